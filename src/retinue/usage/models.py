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
    led_by_time=True,
    indexes=[("tenant_id", "hour")],
    extra=index_where("is_new", "tenant_id", "id"),
)
class UsageEntry(TenantRecord, kw_only=True):
    """What was used in one hour: a new one says one thing, and soon joins the others of its hour.

    Rows are only ever added by those who use something, so that nobody waits for another's row. A row with
    `provider_key_id` says what a key was asked for; the same tokens are counted by a row without one as well.
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
    """What may be spent in a day or a month; `announced_for` is the period whose threshold was announced."""

    scope_type: ScopeType
    scope_id: str
    limit_usd: float | None = None
    limit_tokens: int | None = None
    period: BudgetPeriod = BudgetPeriod.month
    soft_percent: int = 80
    action: BudgetAction = BudgetAction.block
    announced_for: str = ""
    created_by: str
