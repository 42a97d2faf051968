"""What a key may be used for in a month: a key whose budget is spent hands over to the next one."""

from collections.abc import Iterable
from typing import Any

from retinue.kit.context import Context
from retinue.providers.models import ProviderKey
from retinue.usage import spending
from retinue.usage.metering import cost_usd, meter_key
from retinue.usage.models import Budget, BudgetAction, ScopeType
from retinue.usage.spending import KnownBudgets, Spender


async def with_room(ctx: Context, keys: Iterable[ProviderKey]) -> list[ProviderKey]:
    """Those that may still spend something; refused with 429 where there would be keys otherwise."""
    left, full = [], None
    for key in keys:
        full_one = await _full_budget(ctx, key)
        if full_one is None:
            left.append(key)
        full = full or full_one
    if full is not None and not left:
        raise spending.exceeded(ctx, full)
    return left


async def count(ctx: Context, key: ProviderKey | None, model: str, answer: Any) -> None:
    """Only what someone has set a limit for is worth a write of its own."""
    usage = getattr(answer, "usage", None)
    if key is None or usage is None:
        return
    if not await _budgets_of(ctx, key):
        return
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    async with ctx.unit() as unit:
        meter_key(unit, key.id, model, prompt, completion)
        who = Spender(provider_key_id=key.id)
        spending.look_later(unit, who, cost_usd(model, prompt, completion), prompt + completion)


async def _full_budget(ctx: Context, key: ProviderKey) -> Budget | None:
    for budget in await _budgets_of(ctx, key):
        # Outside a transaction, for the same reason as the keys.
        taken = ctx.adapter(KnownBudgets).taken[budget.id] = await spending.spent(ctx.apart(), budget)
        if budget.action is not BudgetAction.notify and taken >= spending.limit_of(budget):
            return budget
    return None


async def _budgets_of(ctx: Context, key: ProviderKey) -> list[Budget]:
    """The key's own limit, which is a budget like any other, and those that name the key."""
    known = await ctx.adapter(KnownBudgets).of(ctx)
    if not known and key.monthly_budget_usd is None:
        return []
    who = Spender(provider_key_id=key.id)
    found = [budget for budget in known if who.is_paid_by(budget)]
    if key.monthly_budget_usd is not None:
        found.append(
            Budget(
                id=key.id,
                scope_type=ScopeType.provider_key,
                scope_id=key.id,
                limit_usd=key.monthly_budget_usd,
                created_by=key.created_by,
            )
        )
    return found
