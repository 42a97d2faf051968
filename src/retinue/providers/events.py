from retinue.kit.events.declare import Event, event

_EXAMPLE = {"api_key_id": "pak_…", "name": "Production", "provider": "openai"}


class ApiKeyEvent(Event, kw_only=True):
    """The name is stored with the event, so that it can be shown after the key is deleted."""

    api_key_id: str
    name: str
    provider: str


@event("system.api_key.created", subject="api_key_id", audited=True, example=_EXAMPLE)
class ApiKeyCreated(ApiKeyEvent, kw_only=True):
    """A provider key was added."""


@event(
    "system.api_key.updated",
    subject="api_key_id",
    audited=True,
    example={**_EXAMPLE, "changed": ["base_url"], "destination": "https://api.openai.com"},
)
class ApiKeyUpdated(ApiKeyEvent, kw_only=True):
    """A provider key was changed; `destination` is where its secret may be sent."""

    changed: list[str]
    destination: str


@event("system.api_key.deleted", subject="api_key_id", audited=True, example=_EXAMPLE)
class ApiKeyDeleted(ApiKeyEvent, kw_only=True):
    """A provider key was deleted."""


@event(
    "system.api_key.invalidated",
    subject="api_key_id",
    audited=True,
    example={**_EXAMPLE, "reason": "The provider refused the key."},
)
class ApiKeyInvalidated(ApiKeyEvent, kw_only=True):
    """A provider key failed its test, or was refused by the provider during a call."""

    reason: str
