from typing import Any

from retinue.kit.events.declare import Event, event

_EXAMPLE = {"incoming_webhook_id": "iwh_…", "name": "Shop", "slug": "shop-orders"}


class IncomingWebhookEvent(Event, kw_only=True):
    """Name and slug are stored with the event: they are shown after the webhook is gone."""

    incoming_webhook_id: str
    name: str
    slug: str


@event("system.incoming_webhook.created", subject="incoming_webhook_id", audited=True, example=_EXAMPLE)
class IncomingWebhookCreated(IncomingWebhookEvent, kw_only=True):
    """A public address for incoming webhooks was made."""


@event(
    "system.incoming_webhook.updated",
    subject="incoming_webhook_id",
    audited=True,
    example={**_EXAMPLE, "changes": ["active"]},
)
class IncomingWebhookUpdated(IncomingWebhookEvent, kw_only=True):
    """An incoming webhook was changed."""

    changes: list[str]


@event("system.incoming_webhook.deleted", subject="incoming_webhook_id", audited=True, example=_EXAMPLE)
class IncomingWebhookDeleted(IncomingWebhookEvent, kw_only=True):
    """An incoming webhook was deleted, and with it what it had received."""


@event(
    "system.webhook.received",
    subject="incoming_webhook_id",
    example={
        **_EXAMPLE,
        "received_id": "iwe_…",
        "replay_of": None,
        "workflow_id": None,
        "content_type": "application/json",
        "payload": {"order": 17},
        "payload_bytes": 12,
        "is_payload_omitted": False,
    },
)
class WebhookReceived(IncomingWebhookEvent, kw_only=True):
    """An incoming webhook took a payload; one of more than 64 KiB is left out here."""

    received_id: str
    replay_of: str | None
    workflow_id: str | None
    content_type: str | None
    payload: Any
    payload_bytes: int
    is_payload_omitted: bool
