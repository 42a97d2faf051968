from retinue.kit.events.declare import Event, event

_EXAMPLE = {"embed_key_id": "ek_…", "agent_id": "agt_…", "name": "Website"}


class EmbedKeyEvent(Event, kw_only=True):
    """The name is stored with the event, so that it can be shown after the key is deleted."""

    embed_key_id: str
    agent_id: str
    name: str


@event(
    "system.embed_key.created",
    subject="embed_key_id",
    audited=True,
    example={**_EXAMPLE, "allowed_domains": ["example.com"]},
)
class EmbedKeyCreated(EmbedKeyEvent, kw_only=True):
    """An embed key of an agent was created."""

    allowed_domains: list[str]


@event("system.embed_key.revoked", subject="embed_key_id", audited=True, example=_EXAMPLE)
class EmbedKeyRevoked(EmbedKeyEvent, kw_only=True):
    """An embed key of an agent was revoked."""


@event(
    "system.embed_key.rotated",
    subject="embed_key_id",
    audited=True,
    example={**_EXAMPLE, "previous_until": "2026-11-15T08:30:00.000000Z"},
)
class EmbedKeyRotated(EmbedKeyEvent, kw_only=True):
    """An embed key was replaced by a new one; the previous one works until `previous_until`."""

    previous_until: str


@event(
    "system.embed_key.updated",
    subject="embed_key_id",
    audited=True,
    example={**_EXAMPLE, "changed": ["allowed_domains"]},
)
class EmbedKeyUpdated(EmbedKeyEvent, kw_only=True):
    """The name, the domains or the limits of an embed key were changed; `changed` names the fields."""

    changed: list[str]


_PAGE_EXAMPLE = {"hosted_page_id": "hpg_…", "agent_id": "agt_…", "slug": "lamp-desk"}


class HostedPageEvent(Event, kw_only=True):
    """`slug` is the end of the page's address."""

    hosted_page_id: str
    agent_id: str
    slug: str


@event(
    "system.hosted_page.updated",
    subject="hosted_page_id",
    audited=True,
    example={**_PAGE_EXAMPLE, "audience": "public", "embed_key_id": "ek_…"},
)
class HostedPageUpdated(HostedPageEvent, kw_only=True):
    """The hosted page of an agent was switched on, or got another address, audience or embed key."""

    audience: str
    embed_key_id: str | None


@event("system.hosted_page.closed", subject="hosted_page_id", audited=True, example=_PAGE_EXAMPLE)
class HostedPageClosed(HostedPageEvent, kw_only=True):
    """The hosted page of an agent was switched off; its address stays reserved for the agent."""
