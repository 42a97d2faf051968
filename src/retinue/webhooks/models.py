from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.json_types import JsonObject


class DeliveryStatus(StrEnum):
    pending = "pending"
    delivered = "delivered"
    failed = "failed"


@table("webhooks", prefix="wh", indexes=[("tenant_id", "created_at")])
class Webhook(TenantRecord, kw_only=True):
    """A URL that events are posted to, and which events.

    `secrets` is the JSON of the signing secret and the previous one, which also signs until
    `previous_secret_until`. `disable_at` is set while every attempt fails; an attempt that fails after that
    moment disables the webhook. The counts cover the stored deliveries, so that queries need not count them.
    `header_values` is the JSON of the custom headers, whose masked values are in `headers`; if it is null,
    `headers` is from a version that did not encrypt them.
    """

    url: str
    events: list[str]
    filters: JsonObject
    description: str | None = None
    headers: dict[str, str]
    header_values: Sealed | None = None
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
    """The exact body that is posted for one event; its `id` is the event's."""

    body: str


@table(
    "webhook_deliveries",
    prefix="dlv",
    time_ordered_ids=True,
    unique=[("tenant_id", "event_id", "webhook_id")],
    indexes=[
        ("tenant_id", "webhook_id", "created_at", "id"),
        ("tenant_id", "webhook_id", "status", "created_at", "id"),
        ("created_at",),
    ],
)
class WebhookDelivery(TenantRecord, kw_only=True):
    """The delivery of one event to one webhook; `attempt` counts the attempts made.

    While `is_scheduled`, a job retries it. Deliveries are kept when their webhook is deleted.
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


@table(
    "webhook_attempts", prefix="wha", time_ordered_ids=True, unique=[("delivery_id", "tenant_id", "number")]
)
class WebhookAttempt(TenantRecord, kw_only=True):
    """One attempt of a delivery, with the beginning of the response."""

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
    """Sums of a webhook's deliveries within an hour; its `id` combines the webhook's id and the hour.

    `times` counts the attempts that got a response, by bucket of response time.
    """

    delivered: int = 0
    failed: int = 0
    answered: int = 0
    time_ms: int = 0
    times: dict[str, int]
