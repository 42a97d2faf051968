"""Slots of turns: concurrent turns and turns per minute, as the tenant's plan allows."""

from retinue.chat.errors import TooManyTurns
from retinue.kit.context import Context
from retinue.kit.limits import COST, Lease, PlanLimits

_SLOT_GRACE_SECONDS = 30
_RETRY_AFTER_SECONDS = 5


async def acquire_turn_slot(
    ctx: Context, limits: PlanLimits | None = None, *, charges_turn_rate: bool = True
) -> Lease:
    """Return a slot that the caller must release; raise TooManyTurns (429) at the plan's limit."""
    limits = limits or ctx.principal.limits
    if charges_turn_rate:
        await charge_turn_rate(ctx, limits)
    limit = limits.concurrent_executions if limits is not None else None
    slot = await ctx.instance.limiter.hold(f"turns:{ctx.tenant_id}", limit, slot_seconds(ctx))
    if slot is None:
        raise too_many_concurrent_turns(ctx, limit or 0)
    return slot


def slot_seconds(ctx: Context) -> float:
    """Return how long a slot is held if its process dies before it releases the slot."""
    return ctx.instance.settings.turn_seconds + _SLOT_GRACE_SECONDS


def too_many_concurrent_turns(ctx: Context, limit: int) -> TooManyTurns:
    return TooManyTurns(
        limit=limit,
        window="concurrent",
        retry_after=_RETRY_AFTER_SECONDS,
        reset=int(ctx.clock.time()) + _RETRY_AFTER_SECONDS,
        message="Too many messages are being answered at the moment. Try again in a few seconds.",
    )


async def charge_turn_rate(ctx: Context, limits: PlanLimits | None) -> None:
    """Count the turn if the plan's chat limit is tighter than what the cost of a chat request implies."""
    if limits is None or limits.chat_per_minute is None:
        return
    per_minute = limits.requests_per_minute
    if per_minute is not None and limits.chat_per_minute * COST["chat"] >= per_minute:
        return
    decision = await ctx.instance.limiter.hit_window(f"chat:{ctx.tenant_id}", limits.chat_per_minute, 60)
    if not decision.allowed:
        raise decision.refusal()
