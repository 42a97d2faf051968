"""How many turns a tenant may have answered at once and per minute, by its plan."""

import asyncio
from collections.abc import Awaitable

from retinue.chat.engine import MAX_SECONDS
from retinue.chat.errors import TooManyTurns
from retinue.kit.context import Context
from retinue.kit.ids import new_id
from retinue.kit.limits import COST, PlanLimits

# How long the places of a process that was killed stay taken where many share them; a living one renews them.
LEASE_S = 10.0
_RENEW_S = 3.0
_LONGEST_S = MAX_SECONDS + 30
_RETRY_AFTER_S = 5


class Place:
    """One of the tenant's places, held until it is given back."""

    __slots__ = ("_key", "_lease_id", "_limit", "_limiter", "_renewals", "_renewing", "_timer")

    def __init__(self, ctx: Context, key: str, limit: int | None, lease_id: str) -> None:
        self._limiter = ctx.instance.limiter
        self._key = key
        self._limit = limit
        self._lease_id = lease_id
        self._renewals = int(_LONGEST_S / _RENEW_S)
        self._renewing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        if not self._limiter.is_local:
            self._renew_later()

    def _renew_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_RENEW_S, self._renew)

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        await self.give_back()

    async def give_back(self) -> None:
        self._renewals = 0
        if self._timer is not None:
            self._timer.cancel()
        if self._renewing is not None:
            # Or it would take again what is given back here.
            await asyncio.wait([self._renewing])
        await self._limiter.release(self._key, self._lease_id)

    def _renew(self) -> None:
        """Most turns are over before; one that nobody gives back must not hold its place for ever."""
        self._renewals -= 1
        renewed = self._limiter.acquire(self._key, self._limit, self._lease_id, LEASE_S)
        self._renewing = asyncio.get_running_loop().create_task(self._until_next(renewed))

    async def _until_next(self, renewed: Awaitable[bool]) -> None:
        await renewed
        if self._renewals > 0:
            self._renew_later()


async def take_place(ctx: Context, limits: PlanLimits | None = None, *, is_counted: bool = True) -> Place:
    """Refused with 429 when the plan allows no more; whoever takes a place gives it back."""
    limits = limits or ctx.principal.limits
    if is_counted:
        await count_turn(ctx, limits)
    key, lease_id = f"turns:{ctx.tenant_id}", new_id("lease")
    limit = limits.concurrent_executions if limits is not None else None
    limiter = ctx.instance.limiter
    # What a process counts in its own memory goes with it, and has nobody to renew it for.
    lease_s = _LONGEST_S if limiter.is_local else LEASE_S
    if not await limiter.acquire(key, limit, lease_id, lease_s):
        raise too_many_at_once(ctx, limit or 0)
    return Place(ctx, key, limit, lease_id)


def too_many_at_once(ctx: Context, limit: int) -> TooManyTurns:
    return TooManyTurns(
        limit=limit,
        window="concurrent",
        retry_after=_RETRY_AFTER_S,
        reset=int(ctx.clock.time()) + _RETRY_AFTER_S,
        message="Too many messages are being answered at this moment; try again in a few seconds.",
    )


async def count_turn(ctx: Context, limits: PlanLimits | None) -> None:
    """The price of a chat request already keeps to most plans; only a tighter number is counted."""
    if limits is None or limits.chat_per_minute is None:
        return
    per_minute = limits.requests_per_minute
    if per_minute is not None and limits.chat_per_minute * COST["chat"] >= per_minute:
        return
    decision = await ctx.instance.limiter.hit_window(f"chat:{ctx.tenant_id}", limits.chat_per_minute, 60)
    if not decision.allowed:
        raise decision.refusal()
