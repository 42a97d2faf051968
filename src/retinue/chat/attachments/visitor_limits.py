"""Conversions of visitors' files: few at a time for one embed key, and for one visitor of it.

A key is public and needs no account, so nobody else may be kept waiting by its visitors (ADR 40).
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from retinue.chat.errors import TooManyConversions
from retinue.kit.context import Context

MAX_CONVERSIONS_PER_KEY = 8
MAX_CONVERSIONS_PER_VISITOR = 2

# Longer than the files of an ordinary message take; after that, the slot is free for others.
_SLOT_SECONDS = 300.0
_RETRY_AFTER_SECONDS = 5


@asynccontextmanager
async def visitor_slot(ctx: Context) -> AsyncIterator[None]:
    """Hold a slot while the files of a visitor's message are converted; raise TooManyConversions (429)."""
    requester = ctx.requester
    if not requester.is_visitor:
        yield
        return
    key = f"conversions:{ctx.principal.id}"
    async with AsyncExitStack() as slots:
        for name, limit in (
            (f"{key}:{requester.caller_id}", MAX_CONVERSIONS_PER_VISITOR),
            (key, MAX_CONVERSIONS_PER_KEY),
        ):
            slot = await ctx.instance.limiter.hold(name, limit, _SLOT_SECONDS)
            if slot is None:
                raise _too_many(ctx, limit)
            await slots.enter_async_context(slot)
        yield


def _too_many(ctx: Context, limit: int) -> TooManyConversions:
    return TooManyConversions(
        limit=limit,
        window="concurrent",
        retry_after=_RETRY_AFTER_SECONDS,
        reset=int(ctx.clock.time()) + _RETRY_AFTER_SECONDS,
        message=TooManyConversions.__doc__,
    )
