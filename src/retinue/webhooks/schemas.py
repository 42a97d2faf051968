from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery, Pagination
from retinue.kit.schema.base import Schema
from retinue.webhooks.models import DeliveryStatus

_WEEK_S = 7 * 24 * 3600

Url = Annotated[str, Meta(min_length=1, max_length=2048)]
EventName = Annotated[str, Meta(min_length=1, max_length=200)]
Events = Annotated[list[EventName], Meta(min_length=1, max_length=100)]
Description = Annotated[str, Meta(max_length=500)]
HeaderValue = Annotated[str, Meta(max_length=4096)]
Headers = Annotated[dict[str, HeaderValue], Meta(max_length=50)]
Filters = JsonObject


class WebhookCreate(Schema, kw_only=True):
    """`events` are names, wildcards such as `form.*`, or `*`; `filters` select events by their data."""

    url: Url
    events: Events
    active: bool = True
    description: Description | None = None
    headers: Headers | None = None
    filters: Filters | None = None


class WebhookUpdate(Schema, kw_only=True):
    """Omitted fields stay unchanged; null clears an optional one."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    headers: Headers | UnsetType | None = UNSET
    filters: Filters | UnsetType | None = UNSET


class DeliveryPoint(Schema, kw_only=True):
    """Deliveries that ended in one hour or day, and those created in it that have not ended."""

    start: str
    delivered: int
    failed: int
    pending: int


class WebhookOut(Schema, kw_only=True):
    """`success_rate` is the percentage of ended deliveries that succeeded; 0 if none has ended."""

    id: str
    url: str
    events: list[str]
    active: bool
    description: str | None
    headers: dict[str, str]
    filters: JsonObject
    secret_prefix: str
    disabled_reason: str | None
    failing_since: str | None
    last_delivery_at: str | None
    success_rate: float
    created_at: str
    updated_at: str
    series: list[DeliveryPoint] | UnsetType = UNSET


class WebhookMade(WebhookOut, kw_only=True):
    """`secret` is shown only once."""

    secret: str


class WebhookPage(Schema, kw_only=True):
    data: list[WebhookOut]
    pagination: Pagination
    total: int
    page: int
    per_page: int


class WebhookList(ListQuery, kw_only=True):
    active: bool | None = None
    needs_look: bool | None = None
    include: Literal["series"] | None = None


class WebhookSecretRotate(Schema, kw_only=True):
    """`grace_seconds` is how long deliveries are also signed with the previous secret."""

    grace_seconds: Annotated[int, Meta(ge=0, le=_WEEK_S)] = 24 * 3600


class WebhookSecretRotation(Schema, kw_only=True):
    """`secret` is shown only once."""

    id: str
    secret: str
    previous_secret_expires_at: str


class WebhookTest(Schema, kw_only=True):
    event_type: EventName = "system.test"


class WebhookTested(Schema, kw_only=True):
    success: bool
    delivery_id: str
    event_id: str
    event_type: str
    response_code: int | None
    response_time_ms: int | None
    message: str


class DeliveryList(PageQuery, kw_only=True):
    status: DeliveryStatus | None = None
    event_id: Annotated[str, Meta(max_length=64)] | None = None
    event_type: Annotated[str, Meta(max_length=200)] | None = None
    search: Annotated[str, Meta(max_length=100)] | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None


class DeliveryOut(Schema, kw_only=True):
    """`attempt` counts the attempts made; `error` is a code, `error_message` explains it."""

    id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    response_code: int | None
    response_time_ms: int | None
    attempt: int
    created_at: str
    next_attempt_at: str | None
    completed_at: str | None
    error: str | None
    error_message: str | None
    test: bool


class DeliveryPage(Schema, kw_only=True):
    data: list[DeliveryOut]
    total: int
    page: int
    per_page: int


class DeliveryAttempt(Schema, kw_only=True):
    attempt: int
    started_at: str
    response_code: int | None
    response_time_ms: int | None
    response_body: str | None
    error: str | None
    error_message: str | None


class DeliveryRequest(Schema, kw_only=True):
    """The request that is posted. Signatures and timestamps differ between attempts and are not stored."""

    headers: dict[str, str]
    body: msgspec.Raw


class DeliveryDetail(DeliveryOut, kw_only=True):
    """`redacted` is true if bodies omit conversation content that the caller may not read."""

    request: DeliveryRequest
    attempts: list[DeliveryAttempt]
    redacted: bool | UnsetType = UNSET


class DeliveryRetried(Schema, kw_only=True):
    id: str
    status: DeliveryStatus
    attempt: int


class DeliveryReplay(Schema, kw_only=True):
    """The failed deliveries to send again: created between `from` and `to`, of these event types."""

    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None
    event_types: Annotated[list[EventName], Meta(max_length=100)] | None = None
    status: Literal["failed"] = "failed"


class DeliveriesReplayed(Schema, kw_only=True):
    job_id: str
    queued: int


class DeliveryPeriod(StrEnum):
    day = "24h"
    week = "7d"
    month = "30d"
    quarter = "90d"


class WebhookStatsQuery(msgspec.Struct, kw_only=True):
    period: DeliveryPeriod = DeliveryPeriod.week
    interval: Literal["hour", "day"] | None = None


class WebhookStats(Schema, kw_only=True):
    """Response times cover attempts that got a response; the p95 is exact to within 10 %."""

    webhook_id: str
    period: DeliveryPeriod
    total: int
    delivered: int
    failed: int
    pending: int
    success_rate: float
    avg_response_time_ms: int
    p95_response_time_ms: int
    series: list[DeliveryPoint] | UnsetType = UNSET
