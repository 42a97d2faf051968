"""Token budgets of embed keys, counted exactly in the transaction that stores the end of a turn."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.turn.monthly_budget import reserve_turn
from retinue.embed.errors import TokenBudgetSpent
from retinue.embed.models import EmbedKey
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.usage.monthly_tokens import counting_statement, month_of

_keys = EmbedKey.__table__
_COUNT = counting_statement(
    EmbedKey,
    request_count=_keys.c.request_count + sa.bindparam("requests", type_=sa.BigInteger()),
    last_used_at=sa.bindparam("now"),
)


class TurnAllowance(msgspec.Struct, frozen=True):
    """The tokens one turn may use, and the callback that counts them; None if nothing is counted."""

    tokens: int | None = None
    on_turn_end: Callable[[Context, int], None] | None = None


@asynccontextmanager
async def turn_allowance(ctx: Context, agent: Agent) -> AsyncIterator[TurnAllowance]:
    """Hold the allowance while a turn is started; its end then counts and releases it."""
    if ctx.principal.kind != "embed_key":
        yield TurnAllowance()
        return
    if ctx.principal.tokens_left is None:
        yield TurnAllowance(None, _usage_counter(ctx.principal.id))
        return
    # Read again: a slow client may have sent its request long after it was authenticated.
    key = await ctx.db.get(EmbedKey, ctx.principal.id)
    left, release = await reserve_turn(ctx, agent, key, TokenBudgetSpent)
    try:
        yield TurnAllowance(left, _usage_counter(ctx.principal.id, release))
    except BaseException:
        await release()
        raise


def _usage_counter(
    key_id: str, release: Callable[[], Awaitable[None]] | None = None
) -> Callable[[Context, int], None]:
    """Return a callback that adds a turn to its key at the commit, to lock the row only briefly."""

    def count(unit: Context, tokens: int) -> None:
        now = unit.now
        month = month_of(now)
        unit.db.execute_at_commit(_COUNT, spender_id=key_id, now=now, month=month, tokens=tokens, requests=1)
        if release is not None:
            unit.after_commit(release)

    return count


async def count_remaining_tokens(unit: Context, key_id: str, result: JsonObject) -> None:
    """Count the tokens a turn used after waiting for approvals; it is not another request."""
    now = unit.now
    unit.db.execute_at_commit(
        _COUNT, spender_id=key_id, now=now, month=month_of(now), tokens=result["tokens"], requests=0
    )
