"""Models without a known price: a budget in dollars cannot count them, so it refuses or announces them."""

import functools

import msgspec

from retinue.kit.context import Context
from retinue.usage import periods
from retinue.usage.enforcement import BudgetCache, Spender
from retinue.usage.errors import ModelUnpriced
from retinue.usage.events import BudgetUnpriced
from retinue.usage.job_kinds import ANNOUNCE_UNPRICED, ModelToAnnounce
from retinue.usage.models import Budget, BudgetAction, OnUnpriced, UnpricedModels

# An agent could be renamed for ever; its administrators have then heard often enough.
_MAX_ANNOUNCED = 100
_MAX_REMEMBERED = 10_000


class UnpricedRule(msgspec.Struct, frozen=True):
    """The budget that refuses models without a price, and whether a priced one may answer instead."""

    budget_id: str
    may_fall_back: bool

    def refusal(self, model: str) -> ModelUnpriced:
        return ModelUnpriced(
            f"The model {model} has no known price, and a budget refuses such models. Set its price.",
            details={"model": model, "budget_id": self.budget_id, "set_price": "PUT /api/v1/model-prices"},
        )


async def find_rule(ctx: Context, spender: Spender) -> UnpricedRule | None:
    """Return the rule of the budgets that limit the spender; a blocking one comes first."""
    refusing = [
        budget
        for budget in await ctx.state(BudgetCache).of(ctx)
        if spender.is_limited_by(budget) and refuses_unpriced(budget)
    ]
    if not refusing:
        return None
    blocking = [budget for budget in refusing if budget.action is BudgetAction.block]
    return UnpricedRule((blocking or refusing)[0].id, may_fall_back=not blocking)


def refuses_unpriced(budget: Budget) -> bool:
    return budget.limit_usd is not None and budget.on_unpriced is OnUnpriced.refuse


async def announce_refusal(ctx: Context, spender: Spender, model: str) -> None:
    """Announce a refused model in a transaction of its own: the request itself stores nothing."""
    if _due_budgets(ctx, spender, model):
        async with ctx.unit() as unit:
            announce(unit, spender, model)


def announce(unit: Context, spender: Spender, model: str) -> None:
    """Tell people that a budget cannot count this model, once in a period."""
    announced = unit.state(BudgetCache).announced_unpriced
    for budget in _due_budgets(unit, spender, model):
        unit.defer(ANNOUNCE_UNPRICED, ModelToAnnounce(budget.id, model))
        unit.after_commit(functools.partial(_remember, announced, _key(unit, budget, model)))


async def _remember(announced: set[tuple[str, str, str]], key: tuple[str, str, str]) -> None:
    if len(announced) >= _MAX_REMEMBERED:
        announced.clear()
    announced.add(key)


def _due_budgets(ctx: Context, spender: Spender, model: str) -> list[Budget]:
    cache = ctx.state(BudgetCache)
    return [
        budget
        for budget in cache.cached(ctx.tenant_id)
        if spender.is_limited_by(budget)
        and budget.limit_usd is not None
        and _key(ctx, budget, model) not in cache.announced_unpriced
    ]


def _key(ctx: Context, budget: Budget, model: str) -> tuple[str, str, str]:
    return budget.id, periods.name_at(ctx.now, budget.period.value), model


async def announce_unpriced(ctx: Context, payload: ModelToAnnounce) -> None:
    budget = await ctx.db.lock(Budget, payload.budget_id)
    if budget is None:
        return
    period = periods.name_at(ctx.now, budget.period.value)
    announced = budget.announced_unpriced
    models = announced.models if announced.period == period else ()
    if payload.model in models or len(models) >= _MAX_ANNOUNCED:
        return
    await ctx.db.update(budget, announced_unpriced=UnpricedModels(period, (*models, payload.model)))
    ctx.emit(
        BudgetUnpriced(
            budget_id=budget.id, model=payload.model, period=period, action=budget.on_unpriced.value
        )
    )
