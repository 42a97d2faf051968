from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.json_types import JsonObject


class ActionType(StrEnum):
    webhook = "webhook"
    workflow = "workflow"
    notification = "notification"


@table(
    "event_subscriptions",
    prefix="sub",
    indexes=[
        ("tenant_id", "active", "event_type"),
        ("tenant_id", "created_at"),
        ("tenant_id", "workflow_id"),
    ],
)
class Subscription(TenantRecord, kw_only=True):
    """An action that is performed for matching events.

    `is_pattern` means that `event_type` is a pattern (`form.*`). `workflow_id` is a copy from `action_config`
    for queries. `header_values` holds the values of the config's headers, which are masked in the config.
    """

    event_type: str
    is_pattern: bool = False
    action_type: ActionType
    action_config: JsonObject
    header_values: Sealed | None = None
    filters: JsonObject
    active: bool = True
    workflow_id: str | None = None
    trigger_count: int = 0
    failure_count: int = 0
    last_triggered_at: Instant | None = None
    last_error: str | None = None
    created_by: str


@table("signing_secrets", prefix="sgn", unique=[("tenant_id",)])
class SigningSecret(TenantRecord, kw_only=True):
    """The tenant's signing secret: JSON of the secret and the previous one."""

    secrets: Sealed
    previous_until: Instant | None = None


@table("signed_messages", prefix="smg")
class SignedMessage(TenantRecord, kw_only=True):
    """A message to a configured URL; it is deleted when it is delivered or given up.

    `content` is its custom headers and its exact body.
    """

    url: str
    content: Sealed
    event_id: str
    event_type: str
