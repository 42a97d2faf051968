from typing import Any

from retinue.kit.events.declare import Event, event

_EXAMPLE = {"incoming_webhook_id": "iwh_…", "name": "Shop", "slug": "shop-orders"}


class IncomingWebhookEvent(Event, kw_only=True):
    """Includes name and slug, so that they are known after the webhook is deleted."""

    incoming_webhook_id: str
    name: str
    slug: str


@event("system.incoming_webhook.created", subject="incoming_webhook_id", audited=True, example=_EXAMPLE)
class IncomingWebhookCreated(IncomingWebhookEvent, kw_only=True):
    """An incoming webhook was created."""


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
    """An incoming webhook and its received payloads were deleted."""


@event(
    "system.webhook.received",
    subject="incoming_webhook_id",
    content=("payload",),
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
    """An incoming webhook received a payload. A payload of more than 64 KiB is omitted from the event."""

    received_id: str
    replay_of: str | None
    workflow_id: str | None
    content_type: str | None
    payload: Any
    payload_bytes: int
    is_payload_omitted: bool
