from enum import StrEnum
from typing import Annotated, Protocol

from msgspec import Struct

from retinue.kit.clock import Instant
from retinue.kit.db.models import Record, ServerDefault, TenantRecord, index_where, table

DIMENSIONS = ("agent_id", "model", "user_id", "embed_key_id", "tool_id", "channel")
COUNTERS = (
    "requests",
    "chat_requests",
    "messages",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
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
    cached_tokens: Annotated[int, ServerDefault("0")] = 0
    cache_write_tokens: Annotated[int, ServerDefault("0")] = 0
    reasoning_tokens: Annotated[int, ServerDefault("0")] = 0
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


class OnUnpriced(StrEnum):
    refuse = "refuse"
    allow = "allow"


class UnpricedModels(Struct, frozen=True):
    """The models without a price that a budget announced in a period."""

    period: str = ""
    models: tuple[str, ...] = ()


@table("budgets", prefix="bdg", indexes=[("tenant_id", "created_at")])
class Budget(TenantRecord, kw_only=True):
    """A limit on daily or monthly spending; `announced_for` is the period last announced.

    `refused_count` turns were refused on the day `refused_on`, the last of them `refused_because`.

    `on_unpriced` says what becomes of models whose cost a limit in dollars could not count.
    """

    scope_type: ScopeType
    scope_id: str
    limit_usd: float | None = None
    limit_tokens: int | None = None
    period: BudgetPeriod = BudgetPeriod.month
    soft_percent: int = 80
    action: BudgetAction = BudgetAction.block
    on_unpriced: Annotated[OnUnpriced, ServerDefault("'allow'")] = OnUnpriced.refuse
    announced_for: str = ""
    announced_unpriced: Annotated[UnpricedModels, ServerDefault("'{}'")] = UnpricedModels()
    refused_on: Annotated[str, ServerDefault("''")] = ""
    refused_count: Annotated[int, ServerDefault("0")] = 0
    refused_because: Annotated[str, ServerDefault("''")] = ""
    created_by: str


class PriceSource(StrEnum):
    tenant = "tenant"
    instance = "instance"
    list = "list"


class PriceFields(Protocol):
    """The columns that prices of a tenant and of the instance share."""

    model: str
    input_price_per_mtok: float
    output_price_per_mtok: float
    cached_input_price_per_mtok: float | None
    cache_write_price_per_mtok: float | None
    speech_price_per_mchar: float | None
    transcription_price_per_minute: float | None
    updated_at: Instant


@table("model_prices", prefix="mpr", unique=[("tenant_id", "model")], is_configuration=True)
class ModelPrice(TenantRecord, kw_only=True):
    """A tenant's price of a million tokens of a model; cached tokens cost as input by default.

    Speech is paid by a million characters, a transcription by the minute.
    """

    model: str
    input_price_per_mtok: float
    output_price_per_mtok: float
    cached_input_price_per_mtok: float | None = None
    cache_write_price_per_mtok: float | None = None
    speech_price_per_mchar: float | None = None
    transcription_price_per_minute: float | None = None


@table("instance_model_prices", prefix="impr", unique=[("model",)], is_configuration=True)
class InstanceModelPrice(Record, kw_only=True):
    """The price of a model for all tenants that have not set their own."""

    model: str
    input_price_per_mtok: float
    output_price_per_mtok: float
    cached_input_price_per_mtok: float | None = None
    cache_write_price_per_mtok: float | None = None
    speech_price_per_mchar: float | None = None
    transcription_price_per_minute: float | None = None
