"""Monthly budgets of provider keys; a key whose budget is spent is skipped."""

from retinue.kit.context import Context
from retinue.providers.models import ProviderKey
from retinue.usage import enforcement
from retinue.usage.enforcement import BudgetCache, BudgetHold, Spender
from retinue.usage.errors import BudgetExceeded, ModelUnpriced
from retinue.usage.meters import meter_provider_key, token_counts
from retinue.usage.model_call import BookedCall, PlannedCall
from retinue.usage.models import Budget, BudgetAction, OnUnpriced, ScopeType
from retinue.usage.price_book import load_price_book, usd
from retinue.usage.single_call import call_ceiling, limit_reply
from retinue.usage.unpriced import UnpricedRule, announce, announce_refusal, refuses_unpriced


async def keys_within_budget(ctx: Context, keys: list[ProviderKey], model: str) -> list[ProviderKey]:
    """Return the keys that may pay for a model, which is named as their provider does.

    Raise BudgetExceeded (429) or ModelUnpriced (422) if there were some, but none of them may.
    """
    if not await ctx.state(BudgetCache).of(ctx) and all(key.monthly_budget_usd is None for key in keys):
        return keys
    usable, refusal = [], None
    for key in keys:
        refused = await _find_refusal(ctx, key, model)
        if refused is None:
            usable.append(key)
        refusal = refusal or refused
    if refusal is not None and not usable:
        raise enforcement.count_refusal(refusal)
    return usable


def may_be_limited(ctx: Context, key: ProviderKey) -> bool:
    """Return whether a budget may limit the key, by what this process knows; the hold then looks closely."""
    return key.monthly_budget_usd is not None or bool(ctx.state(BudgetCache).cached(ctx.tenant_id))


async def hold_key(ctx: Context, key: ProviderKey, call: PlannedCall) -> tuple[BudgetHold | None, int | None]:
    """Hold the budgets of a key for a call; return the hold, and how many tokens the reply may have.

    Raise BudgetExceeded (429) if they do not pay for it.
    """
    budgets = await _load_budgets(ctx, key)
    if not budgets:
        return None, None
    prices = await load_price_book(ctx)
    held = await enforcement.hold_each(ctx, budgets, call_ceiling(call, prices))
    try:
        enforcement.require_unspent(ctx, held)
        return held, limit_reply(call, prices, held)
    except BaseException:
        await held.release()
        raise


async def count_key_usage(ctx: Context, key: ProviderKey, call: BookedCall) -> None:
    """Count the usage of a key only if a budget limits it, to save a write."""
    if not await _load_budgets(ctx, key):
        return
    usage = call.counted_usage()
    nano_usd = call.cost(await load_price_book(ctx))
    tokens = usage.prompt_tokens + usage.completion_tokens
    async with ctx.unit() as unit:
        meter_provider_key(unit, key.id, call.model, token_counts(usage, nano_usd))
        spender = Spender(provider_key_id=key.id)
        enforcement.enqueue_threshold_checks(unit, spender, usd(nano_usd or 0), tokens)
        if nano_usd is None:
            announce(unit, spender, call.model)


async def _find_refusal(ctx: Context, key: ProviderKey, model: str) -> BudgetExceeded | ModelUnpriced | None:
    for budget in await _load_budgets(ctx, key):
        model_id = f"{key.provider}/{model}"
        if refuses_unpriced(budget) and (await load_price_book(ctx)).find(model_id) is None:
            await announce_refusal(ctx, Spender(provider_key_id=key.id), model_id)
            return UnpricedRule(budget.id, may_fall_back=False).refusal(model_id)
        # No call should wait for a writer.
        amount_spent = ctx.state(BudgetCache).amount_spent[budget.id] = await enforcement.load_spent(
            ctx.reader(), budget
        )
        if budget.action is not BudgetAction.notify and amount_spent >= enforcement.budget_limit(budget):
            return enforcement.budget_exceeded(ctx, budget)
    return None


def own_budget(key: ProviderKey) -> Budget | None:
    """Return the key's own monthly limit as a budget; None if it has none."""
    if key.monthly_budget_usd is None:
        return None
    return Budget(
        id=key.id,
        scope_type=ScopeType.provider_key,
        scope_id=key.id,
        limit_usd=key.monthly_budget_usd,
        # A key's own limit has no such choice; the reply warns of what was not counted.
        on_unpriced=OnUnpriced.allow,
        created_by=key.created_by,
    )


async def _load_budgets(ctx: Context, key: ProviderKey) -> list[Budget]:
    """Return the budgets that name the key, and its own monthly limit as one more."""
    all_budgets = await ctx.state(BudgetCache).of(ctx)
    if not all_budgets and key.monthly_budget_usd is None:
        return []
    spender = Spender(provider_key_id=key.id)
    budgets = [budget for budget in all_budgets if spender.is_limited_by(budget)]
    own = own_budget(key)
    return budgets if own is None else [*budgets, own]
