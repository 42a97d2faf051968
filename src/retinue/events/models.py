from enum import StrEnum
from typing import Any

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table


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
    """What is to be done when something happens.

    `is_pattern`: the type stands for several (`form.*`). `workflow_id` is what the action's config says, kept
    apart to be found by. `header_values` are those of the headers in the config, where they stand masked.
    """

    event_type: str
    is_pattern: bool = False
    action_type: ActionType
    action_config: dict[str, Any]
    header_values: Sealed | None = None
    filters: dict[str, Any]
    active: bool = True
    workflow_id: str | None = None
    trigger_count: int = 0
    failure_count: int = 0
    last_triggered_at: Instant | None = None
    last_error: str | None = None
    created_by: str


@table("signing_secrets", prefix="sgn", unique=[("tenant_id",)])
class SigningSecret(TenantRecord, kw_only=True):
    """What a tenant's own messages are signed with: JSON of the secret and of the one before it."""

    secrets: Sealed
    previous_until: Instant | None = None


@table("signed_messages", prefix="smg")
class SignedMessage(TenantRecord, kw_only=True):
    """A message on its way to an address that someone gave; it goes when it has arrived or is given up.

    `content` is its further headers and its body, byte for byte.
    """

    url: str
    content: Sealed
    event_id: str
    event_type: str
