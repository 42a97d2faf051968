"""Token budgets of embed keys, counted exactly in the transaction that stores the end of a turn."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.engine.budget import MAX_TURN_TOKENS
from retinue.chat.turn.admission import slot_seconds, too_many_concurrent_turns
from retinue.chat.turn.billing import max_turn_tokens
from retinue.embed.errors import TokenBudgetSpent
from retinue.embed.models import EmbedKey
from retinue.kit.clock import Instant, parse_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject

_keys = EmbedKey.__table__
_COUNT = Statement(
    sa.update(_keys)
    .where(_keys.c.id == sa.bindparam("key_id"))
    .values(
        request_count=_keys.c.request_count + sa.bindparam("requests", type_=sa.BigInteger()),
        last_used_at=sa.bindparam("now"),
        tokens_used=sa.case((_keys.c.tokens_month == sa.bindparam("month"), _keys.c.tokens_used), else_=0)
        + sa.bindparam("tokens", type_=sa.BigInteger()),
        tokens_month=sa.bindparam("month"),
    )
)


def month_of(now: Instant) -> str:
    """Return the month that tokens are counted for."""
    return now[:7]


def tokens_used_in(month: str, key: EmbedKey) -> int:
    return key.tokens_used if key.tokens_month == month else 0


def tokens_left(budget: int | None, used: int, month: str, now: Instant) -> int | None:
    """Return what a key may still spend this month; None without a budget."""
    if budget is None:
        return None
    return budget - used if month == month_of(now) else budget


class TurnAllowance(msgspec.Struct, frozen=True):
    """The tokens one turn may use, and the callback that counts them; None if nothing is counted."""

    tokens: int | None = None
    on_turn_end: Callable[[Context, int], None] | None = None


@asynccontextmanager
async def turn_allowance(ctx: Context, agent: Agent) -> AsyncIterator[TurnAllowance]:
    """Hold the allowance while a turn is started; its end then counts and releases it.

    A key with a budget may run as many turns at once as the rest of it can pay for, and always one: each is
    counted when it ends, so more of them together would overspend.
    """
    if ctx.principal.kind != "embed_key":
        yield TurnAllowance()
        return
    if ctx.principal.tokens_left is None:
        yield TurnAllowance(None, _usage_counter(ctx.principal.id))
        return
    left, release = await _reserve_turn(ctx, agent)
    try:
        yield TurnAllowance(left, _usage_counter(ctx.principal.id, release))
    except BaseException:
        await release()
        raise


async def _reserve_turn(ctx: Context, agent: Agent) -> tuple[int, Callable[[], Awaitable[None]]]:
    """Return the tokens left now, and a function that releases the key's slot."""
    # Read again: a slow client may have sent its request long after it was authenticated.
    key = await ctx.db.get(EmbedKey, ctx.principal.id)
    left = tokens_left(key.monthly_token_budget, key.tokens_used, key.tokens_month, ctx.now) if key else 0
    if key is None or (left is not None and left <= 0):
        raise _budget_spent_error(ctx, key)
    left = MAX_TURN_TOKENS if left is None else left
    limit = max(1, left // max_turn_tokens(agent))
    slot = await ctx.instance.limiter.hold(f"spending:{key.id}", limit, slot_seconds(ctx))
    if slot is None:
        raise too_many_concurrent_turns(ctx, limit)
    return left, slot.release


def _usage_counter(
    key_id: str, release: Callable[[], Awaitable[None]] | None = None
) -> Callable[[Context, int], None]:
    """Return a callback that adds a turn to its key at the commit, to lock the row only briefly."""

    def count(unit: Context, tokens: int) -> None:
        now = unit.now
        month = month_of(now)
        unit.db.execute_at_commit(_COUNT, key_id=key_id, now=now, month=month, tokens=tokens, requests=1)
        if release is not None:
            unit.after_commit(release)

    return count


async def count_remaining_tokens(unit: Context, key_id: str, result: JsonObject) -> None:
    """Count the tokens a turn used after waiting for approvals; it is not another request."""
    now = unit.now
    unit.db.execute_at_commit(
        _COUNT, key_id=key_id, now=now, month=month_of(now), tokens=result["tokens"], requests=0
    )


def _budget_spent_error(ctx: Context, key: EmbedKey | None) -> TokenBudgetSpent:
    """Return the error for a key that has no tokens left until next month."""
    now = parse_instant(ctx.now)
    begins = datetime(now.year, now.month, 1, tzinfo=UTC)
    ends = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    return TokenBudgetSpent(
        limit=(key and key.monthly_token_budget) or 0,
        window=int((ends - begins).total_seconds()),
        retry_after=max(1, int((ends - now).total_seconds())),
        reset=int(ends.timestamp()),
        message="The embed key has used up its tokens for this month.",
    )
