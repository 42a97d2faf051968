"""Monthly budgets of provider keys; a key whose budget is spent is skipped."""

from collections.abc import Iterable

from retinue.kit.context import Context
from retinue.providers.models import ProviderKey
from retinue.usage import enforcement
from retinue.usage.enforcement import BudgetCache, Spender
from retinue.usage.meters import cost_usd, meter_provider_key
from retinue.usage.models import Budget, BudgetAction, ScopeType


async def keys_within_budget(ctx: Context, keys: Iterable[ProviderKey]) -> list[ProviderKey]:
    """Return the keys with budget left; raise BudgetExceeded (429) if all are spent."""
    usable, first_spent = [], None
    for key in keys:
        spent_budget = await _find_spent_budget(ctx, key)
        if spent_budget is None:
            usable.append(key)
        first_spent = first_spent or spent_budget
    if first_spent is not None and not usable:
        raise enforcement.budget_exceeded(ctx, first_spent)
    return usable


async def count_key_usage(ctx: Context, key: ProviderKey | None, model: str, answer: object) -> None:
    """Count the usage of a key only if a budget limits it, to save a write."""
    usage = getattr(answer, "usage", None)
    if key is None or usage is None:
        return
    if not await _load_budgets(ctx, key):
        return
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    async with ctx.unit() as unit:
        meter_provider_key(unit, key.id, model, prompt, completion)
        spender = Spender(provider_key_id=key.id)
        enforcement.enqueue_threshold_checks(
            unit, spender, cost_usd(model, prompt, completion), prompt + completion
        )


async def _find_spent_budget(ctx: Context, key: ProviderKey) -> Budget | None:
    for budget in await _load_budgets(ctx, key):
        # Read outside a transaction, so that no call waits for a writer.
        amount_spent = ctx.state(BudgetCache).amount_spent[budget.id] = await enforcement.load_spent(
            ctx.detached(), budget
        )
        if budget.action is not BudgetAction.notify and amount_spent >= enforcement.budget_limit(budget):
            return budget
    return None


async def _load_budgets(ctx: Context, key: ProviderKey) -> list[Budget]:
    """Return the budgets that name the key, and its own monthly limit as one more."""
    all_budgets = await ctx.state(BudgetCache).of(ctx)
    if not all_budgets and key.monthly_budget_usd is None:
        return []
    spender = Spender(provider_key_id=key.id)
    budgets = [budget for budget in all_budgets if spender.is_limited_by(budget)]
    if key.monthly_budget_usd is not None:
        budgets.append(
            Budget(
                id=key.id,
                scope_type=ScopeType.provider_key,
                scope_id=key.id,
                limit_usd=key.monthly_budget_usd,
                created_by=key.created_by,
            )
        )
    return budgets
