from enum import StrEnum
from typing import Any

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table


class DeliveryStatus(StrEnum):
    pending = "pending"
    delivered = "delivered"
    failed = "failed"


@table("webhooks", prefix="wh", indexes=[("tenant_id", "created_at")])
class Webhook(TenantRecord, kw_only=True):
    """Where events of a tenant are posted to, and which.

    `secrets` is the JSON of the signing secret and the one before it, which is used until
    `previous_secret_until`. `disable_at` is set while every attempt fails, and one that fails after that
    moment is the last. The counts are of the deliveries that are kept, so that nobody has to count them.
    """

    url: str
    events: list[str]
    filters: dict[str, Any]
    description: str | None = None
    headers: dict[str, str]
    is_active: bool = True
    secrets: Sealed
    secret_prefix: str
    previous_secret_until: Instant | None = None
    disabled_reason: str | None = None
    disable_at: Instant | None = None
    last_delivery_at: Instant | None = None
    delivered_count: int = 0
    failed_count: int = 0
    created_by: str


@table("webhook_messages", prefix="evt", indexes=[("created_at",)])
class WebhookMessage(TenantRecord, kw_only=True):
    """The body that is posted for one event, byte for byte; its `id` is the event's."""

    body: str


@table(
    "webhook_deliveries",
    prefix="dlv",
    led_by_time=True,
    unique=[("tenant_id", "event_id", "webhook_id")],
    indexes=[
        ("tenant_id", "webhook_id", "created_at", "id"),
        ("tenant_id", "webhook_id", "status", "created_at", "id"),
        ("created_at",),
    ],
)
class WebhookDelivery(TenantRecord, kw_only=True):
    """One event on its way to one webhook; `attempt` counts the attempts made.

    While `is_scheduled`, a job tries again by itself. Deliveries are kept when their webhook is gone.
    """

    webhook_id: str
    event_id: str
    event_type: str
    status: DeliveryStatus = DeliveryStatus.pending
    attempt: int = 0
    response_code: int | None = None
    response_time_ms: int | None = None
    error: str | None = None
    error_message: str | None = None
    next_attempt_at: Instant | None = None
    completed_at: Instant | None = None
    is_test: bool = False
    is_scheduled: bool = True


@table("webhook_attempts", prefix="wha", led_by_time=True, unique=[("delivery_id", "tenant_id", "number")])
class WebhookAttempt(TenantRecord, kw_only=True):
    """One try at a delivery; of what the receiver answered the beginning is kept."""

    delivery_id: str
    number: int
    started_at: Instant
    response_code: int | None = None
    response_time_ms: int | None = None
    response_body: str | None = None
    error: str | None = None
    error_message: str | None = None


@table("webhook_hours", prefix="whh")
class WebhookHour(TenantRecord, kw_only=True):
    """What became of a webhook's deliveries within an hour; its `id` is the webhook's and the hour.

    `times` counts the attempts that were answered, by the step of response time they fall in.
    """

    delivered: int = 0
    failed: int = 0
    answered: int = 0
    time_ms: int = 0
    times: dict[str, int]
