from enum import StrEnum

from retinue.kit.db.models import TenantRecord, index_where, table

DIMENSIONS = ("agent_id", "model", "user_id", "embed_key_id", "tool_id", "channel")
COUNTERS = (
    "requests",
    "chat_requests",
    "messages",
    "prompt_tokens",
    "completion_tokens",
    "tool_executions",
    "workflow_executions",
    "form_submissions",
    "webhook_deliveries",
    "notifications",
    "cost_usd",
)


@table(
    "usage_entries",
    prefix="use",
    time_ordered_ids=True,
    indexes=[("tenant_id", "hour")],
    extra=index_where("is_new", "tenant_id", "id"),
)
class UsageEntry(TenantRecord, kw_only=True):
    """Usage of one hour; a new row holds one use and is soon merged with others of its hour.

    Metering only inserts rows, so it never waits for a lock. A row with `provider_key_id` counts the use of a
    key; the same tokens are also counted by a row without one.
    """

    hour: str
    is_new: bool = True
    agent_id: str = ""
    model: str = ""
    user_id: str = ""
    embed_key_id: str = ""
    tool_id: str = ""
    channel: str = ""
    provider_key_id: str = ""
    requests: int = 0
    chat_requests: int = 0
    messages: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_executions: int = 0
    workflow_executions: int = 0
    form_submissions: int = 0
    webhook_deliveries: int = 0
    notifications: int = 0
    cost_usd: float = 0.0


class ScopeType(StrEnum):
    tenant = "tenant"
    agent = "agent"
    embed_key = "embed_key"
    user = "user"
    provider_key = "provider_key"


class BudgetPeriod(StrEnum):
    day = "day"
    month = "month"


class BudgetAction(StrEnum):
    block = "block"
    fallback = "fallback"
    notify = "notify"


@table("budgets", prefix="bdg", indexes=[("tenant_id", "created_at")])
class Budget(TenantRecord, kw_only=True):
    """A limit on daily or monthly spending; `announced_for` is the period last announced."""

    scope_type: ScopeType
    scope_id: str
    limit_usd: float | None = None
    limit_tokens: int | None = None
    period: BudgetPeriod = BudgetPeriod.month
    soft_percent: int = 80
    action: BudgetAction = BudgetAction.block
    announced_for: str = ""
    created_by: str
