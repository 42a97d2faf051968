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
