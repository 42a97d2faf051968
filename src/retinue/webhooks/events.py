from retinue.kit.events.declare import Event, event

_EXAMPLE = {"webhook_id": "wh_…", "url": "https://example.com/hook"}
_INSTANT = "2026-11-15T08:30:00.000000Z"


class WebhookEvent(Event, kw_only=True):
    """`url` has no query, which may hold a key."""

    webhook_id: str
    url: str


@event(
    "system.webhook.created",
    subject="webhook_id",
    audited=True,
    example={**_EXAMPLE, "events": ["form.submission.created"]},
)
class WebhookCreated(WebhookEvent, kw_only=True):
    """A webhook was created."""

    events: list[str]


@event("system.webhook.updated", subject="webhook_id", audited=True, example={**_EXAMPLE, "changed": ["url"]})
class WebhookUpdated(WebhookEvent, kw_only=True):
    """A webhook was changed."""

    changed: list[str]


@event("system.webhook.deleted", subject="webhook_id", audited=True, example=_EXAMPLE)
class WebhookDeleted(WebhookEvent, kw_only=True):
    """A webhook was deleted, and its pending deliveries were cancelled."""


@event(
    "system.webhook.rotated",
    subject="webhook_id",
    audited=True,
    example={**_EXAMPLE, "previous_secret_expires_at": _INSTANT},
)
class WebhookSecretRotated(WebhookEvent, kw_only=True):
    """A webhook's secret was replaced; the old one also signs until `previous_secret_expires_at`."""

    previous_secret_expires_at: str


@event(
    "system.webhook.disabled",
    subject="webhook_id",
    audited=True,
    example={**_EXAMPLE, "reason": "Every attempt failed for five days.", "failing_since": _INSTANT},
)
class WebhookDisabled(WebhookEvent, kw_only=True):
    """A webhook was disabled because every attempt failed for five days."""

    reason: str
    failing_since: str
