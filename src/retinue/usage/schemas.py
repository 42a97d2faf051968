from typing import Annotated, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.clock import Instant
from retinue.kit.limits.plans import PlanLimits
from retinue.kit.lists import PageQuery
from retinue.kit.schema.base import Schema
from retinue.kit.schema.derived import as_declared, fields_of
from retinue.usage.models import Budget, BudgetAction, BudgetPeriod, OnUnpriced, PriceSource, ScopeType

When = Annotated[str, Meta(max_length=64, description="A date and time such as 2026-11-15T08:30:00Z")]
Granularity = Literal["hour", "day", "month"]
GroupBy = Annotated[
    str, Meta(max_length=200, description="Of agent, model, user, embed_key, tool, channel; comma separated")
]


class UsageQuery(Schema, kw_only=True):
    """Defaults to the current month by days; `from` and `to` are rounded to whole hours."""

    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None
    granularity: Granularity = "day"
    group_by: GroupBy = ""
    group_ids: Annotated[str, Meta(max_length=8_000)] = ""
    format: Literal["json", "csv"] = "json"


class UsagePeriod(Schema, kw_only=True):
    from_: Instant = msgspec.field(name="from")
    to: Instant


class UsedNow(Schema, kw_only=True):
    """Current use of the plan's windows: cost points in the minute, requests in the others."""

    minute: int
    hour: int
    day: int


@fields_of(PlanLimits, as_declared)
class TenantLimits(Schema, kw_only=True):
    """Every limit of a plan, as it applies to a tenant."""


class UsageLimits(TenantLimits, kw_only=True):
    """Limits of the plan with the tenant's overrides; null is unlimited."""

    used: UsedNow


class Counters(Schema, kw_only=True):
    """`storage_bytes` is what is stored now in the totals, and what was added in the period in a row."""

    requests: int = 0
    chat_requests: int = 0
    messages: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    tool_executions: int = 0
    workflow_executions: int = 0
    form_submissions: int = 0
    webhook_deliveries: int = 0
    notifications: int = 0
    storage_bytes: int = 0
    estimated_cost_usd: float = 0.0
    unpriced_tokens: int = 0


class UsageRow(Counters, kw_only=True):
    """Usage of one hour, day or month; periods without usage are left out."""

    start: Instant
    end: Instant
    group: dict[str, str | None]


class Usage(Schema, kw_only=True):
    period: UsagePeriod
    plan: str
    limits: UsageLimits
    totals: Counters
    data: list[UsageRow]


class Scope(Schema, kw_only=True):
    """Scope of a budget; `id` is omitted for the tenant."""

    type: ScopeType
    id: Annotated[str, Meta(max_length=64)] | None = None


Usd = Annotated[float, Meta(gt=0, le=1_000_000_000)]
Tokens = Annotated[int, Meta(ge=1, le=1_000_000_000_000)]
Percent = Annotated[int, Meta(ge=1, le=100)]


class BudgetCreate(Schema, kw_only=True):
    """Give exactly one of `limit_usd` and `limit_tokens`."""

    scope: Scope
    limit_usd: Usd | None = None
    limit_tokens: Tokens | None = None
    period: BudgetPeriod = BudgetPeriod.month
    soft_percent: Percent = 80
    action: BudgetAction = BudgetAction.block
    on_unpriced: OnUnpriced | None = None


class BudgetUpdate(Schema, kw_only=True):
    """A new limit replaces the previous one, even if that had another unit."""

    scope: Scope | UnsetType = UNSET
    limit_usd: Usd | UnsetType | None = UNSET
    limit_tokens: Tokens | UnsetType | None = UNSET
    period: BudgetPeriod | UnsetType = UNSET
    soft_percent: Percent | UnsetType = UNSET
    action: BudgetAction | UnsetType = UNSET
    on_unpriced: OnUnpriced | UnsetType = UNSET


class BudgetOut(Schema, kw_only=True):
    """`spent` is in the unit of the limit and restarts at `resets_at`."""

    id: str
    scope: Scope
    limit_usd: float | None
    limit_tokens: int | None
    period: BudgetPeriod
    soft_percent: int
    action: BudgetAction
    on_unpriced: OnUnpriced
    spent: float
    refused_today: int
    refused_because: str | None
    resets_at: Instant
    created_at: Instant
    updated_at: Instant

    @classmethod
    def from_record(cls, budget: Budget, spent: float, refused_today: int, resets_at: Instant) -> Self:
        return cls.of(
            budget,
            scope=Scope(type=budget.scope_type, id=budget.scope_id or None),
            spent=round(spent, 9),
            refused_today=refused_today,
            refused_because=budget.refused_because if refused_today else None,
            resets_at=resets_at,
        )


class BudgetList(PageQuery, kw_only=True):
    sort: str | None = None
    action: BudgetAction | None = None
    period: BudgetPeriod | None = None
    scope_type: ScopeType | None = None
    scope_id: Annotated[str, Meta(max_length=64)] | None = None


class ModelPriceList(PageQuery, kw_only=True):
    """Without `source`, the prices in force; with it, all prices from there."""

    search: Annotated[str, Meta(max_length=200)] = ""
    source: PriceSource | None = None


class ModelPriceOut(Schema, kw_only=True):
    """Prices of a model in US dollars: a million tokens, a million spoken characters, a minute of sound."""

    model: str
    input_price_per_mtok: float
    cached_input_price_per_mtok: float | None
    cache_write_price_per_mtok: float | None
    output_price_per_mtok: float | None
    speech_price_per_mchar: float | None
    transcription_price_per_minute: float | None
    source: PriceSource
    updated_at: Instant | None


PriceScope = Literal["tenant", "instance"]
PricedModel = Annotated[str, Meta(min_length=3, max_length=300)]
PricePerMtok = Annotated[float, Meta(ge=0, le=100_000)]


class ModelPriceUpdate(Schema, kw_only=True):
    """Prices of cached tokens that are absent are that of input tokens.

    Both prices of tokens are required, unless the model is paid by characters or minutes.
    """

    model: PricedModel
    input_price_per_mtok: PricePerMtok | None = None
    output_price_per_mtok: PricePerMtok | None = None
    cached_input_price_per_mtok: PricePerMtok | None = None
    cache_write_price_per_mtok: PricePerMtok | None = None
    speech_price_per_mchar: PricePerMtok | None = None
    transcription_price_per_minute: PricePerMtok | None = None
    scope: PriceScope = "tenant"


class ModelPriceQuery(Schema, kw_only=True):
    model: PricedModel
    scope: PriceScope = "tenant"
