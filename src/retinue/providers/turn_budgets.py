"""The budgets of a turn: held before its first call of a model, and shared by all of them."""

from collections.abc import Sequence

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.providers.model_resolution import is_embedded
from retinue.usage import enforcement
from retinue.usage.allowance import SpendingAllowance, SpendingLimit
from retinue.usage.enforcement import BudgetHold, Ceiling, Spender
from retinue.usage.errors import BudgetExceeded
from retinue.usage.price_book import load_price_book, nano_usd


async def hold_turn(ctx: Context, spender: Spender, models: Sequence[str], max_tokens: int) -> BudgetHold:
    """Hold the budgets for a turn with these models, the first of which is asked first.

    Embedded models are never refused. If the budgets are spent, a turn of one may call no other model.
    """
    highest_price = (await load_price_book(ctx)).highest_token_price(models)
    ceiling = Ceiling(tokens=max_tokens, nano_usd=nano_usd(highest_price * max_tokens))
    try:
        held = await enforcement.hold_budgets(ctx, spender, ceiling)
    except BudgetExceeded as refusal:
        if not await is_embedded(ctx, models[0]):
            raise
        held = BudgetHold(ctx)
        held.limits.append(_nothing_left(refusal))
    if held.spent is not None and await is_embedded(ctx, models[0]):
        held.limits.append(_nothing_left(enforcement.budget_exceeded(ctx, held.spent)))
        held.spent = None
    return held


def _nothing_left(refusal: RetinueError) -> SpendingLimit:
    return SpendingLimit(left=0, is_in_usd=False, refuse=lambda: refusal)


async def require_affordable(
    ctx: Context, limits: Sequence[SpendingLimit], models: Sequence[str], prompt_tokens: int
) -> None:
    """Raise if no model can be paid for a prompt of at least `prompt_tokens`."""
    allowance = SpendingAllowance(await load_price_book(ctx), limits)
    refusal: RetinueError | None = None
    for model in models:
        refused = allowance.find_refusal(model, prompt_tokens)
        if refused is None or await is_embedded(ctx, model):
            return
        refusal = refusal or refused
    if refusal is not None:
        raise enforcement.count_refusal(refusal)
