"""Turns of a caller with a monthly token budget: an embed key or a service account.

Such a caller may run as many turns at once as the rest of its budget can pay for, and always one: each is
counted when it ends, so more of them together would overspend.
"""

from collections.abc import Awaitable, Callable

from retinue.agents.models import Agent
from retinue.chat.engine.budget import MAX_TURN_TOKENS
from retinue.chat.turn.slots import slot_seconds, too_many_concurrent_turns
from retinue.chat.turn.turn_tokens import max_turn_tokens
from retinue.kit.context import Context
from retinue.usage.errors import MonthlyTokensSpent
from retinue.usage.monthly_tokens import MonthlySpender, tokens_left, tokens_spent_error


async def reserve_turn(
    ctx: Context, agent: Agent, spender: MonthlySpender | None, spent: type[MonthlyTokensSpent]
) -> tuple[int, Callable[[], Awaitable[None]]]:
    """Return the tokens left now, and a function that releases the slot; raise `spent` if there are none."""
    left: int | None = 0
    if spender is not None:
        left = tokens_left(spender.monthly_token_budget, spender.tokens_used, spender.tokens_month, ctx.now)
    if spender is None or (left is not None and left <= 0):
        raise tokens_spent_error(spent, ctx, spender.monthly_token_budget if spender else 0)
    left = MAX_TURN_TOKENS if left is None else left
    limit = max(1, left // max_turn_tokens(agent))
    slot = await ctx.instance.limiter.hold(f"spending:{spender.id}", limit, slot_seconds(ctx))
    if slot is None:
        raise too_many_concurrent_turns(ctx, limit)
    return left, slot.release
