from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, index_where, table


class VerificationType(StrEnum):
    none = "none"
    hmac_sha256 = "hmac_sha256"
    github = "github"
    stripe = "stripe"
    slack = "slack"
    standard_webhooks = "standard_webhooks"
    token = "token"  # noqa: S105  the name of a scheme


class ReceivedStatus(StrEnum):
    received = "received"
    triggered = "triggered"
    failed = "failed"
    duplicate = "duplicate"


@table("incoming_webhooks", prefix="iwh", unique=[("slug",)], indexes=[("tenant_id", "created_at")])
class IncomingWebhook(TenantRecord, kw_only=True):
    """A public URL that receives payloads; the slug is unique in the whole instance.

    `event_count` and `last_received_at` do not include duplicates and replays.
    """

    name: str
    slug: str
    description: str | None = None
    workflow_id: str | None = None
    active: bool = True
    verification_type: VerificationType = VerificationType.none
    verification_header: str | None = None
    secret: Sealed | None = None
    dedupe_header: str | None = None
    event_count: int = 0
    last_received_at: Instant | None = None
    created_by: str


@table("incoming_held_slugs", prefix="ihs", unique=[("slug",)], indexes=[("created_at",)])
class HeldSlug(TenantRecord, kw_only=True):
    """A slug that a webhook of the tenant released; other tenants cannot claim it for a while."""

    slug: str


@table(
    "incoming_events",
    prefix="iwe",
    time_ordered_ids=True,
    unique=[("tenant_id", "incoming_webhook_id", "delivery_key")],
    indexes=[("tenant_id", "incoming_webhook_id", "created_at"), ("created_at",)],
    extra=index_where("is_waiting", "tenant_id", "incoming_webhook_id"),
)
class ReceivedPayload(TenantRecord, kw_only=True):
    """One received payload. When its webhook is deleted, a job deletes it shortly afterwards.

    `payload` is JSON as text, or None if it is a duplicate or large, with a row of its own. `delivery_key` is
    the hash of the sender's identifier of the delivery. `is_waiting` is true until the workflow was started
    or failed to start. `conversation_ids` are those that an event of this tenant quotes, if it was delivered
    here by a webhook of its own.
    """

    incoming_webhook_id: str
    payload: str | None
    payload_bytes: int
    headers: dict[str, str]
    query: dict[str, str]
    content_type: str | None = None
    source_ip: str = ""
    status: ReceivedStatus = ReceivedStatus.received
    is_waiting: bool = False
    delivery_key: str | None = None
    duplicate_of: str | None = None
    replay_of: str | None = None
    workflow_id: str | None = None
    workflow_execution_id: str | None = None
    event_id: str
    correlation_id: str
    error: str | None = None
    conversation_ids: list[str] | None = None


@table(
    "incoming_large_payloads",
    prefix="iwe",
    indexes=[("tenant_id", "incoming_webhook_id"), ("created_at",)],
)
class LargePayload(TenantRecord, kw_only=True):
    """A payload that is too large for lists; it has the id of its `ReceivedPayload`."""

    incoming_webhook_id: str
    payload: str
