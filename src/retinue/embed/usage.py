"""What a key was used for: counted in the transaction that stores the end of a turn, and so exactly."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.admission import LEASE_S, too_many_at_once
from retinue.chat.engine.budget import MAX_TOKENS, estimated_tokens
from retinue.chat.engine.prompts import MAX_HISTORY_CHARACTERS
from retinue.chat.schemas import MAX_MESSAGE
from retinue.embed.errors import TokenBudgetSpent
from retinue.embed.models import EmbedKey
from retinue.kit.clock import Instant, moment
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id

# The characters of what is quoted from documents.
_PASSAGES = 10_000

_keys = EmbedKey.__table__
_COUNT: Statement[Any] = Statement(
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
    """The month for which tokens are counted."""
    return now[:7]


def used_in(month: str, key: EmbedKey) -> int:
    return key.tokens_used if key.tokens_month == month else 0


def tokens_left(budget: int | None, used: int, month: str, now: Instant) -> int | None:
    """What a key may still spend this month; None where nobody counts."""
    if budget is None:
        return None
    return budget - used if month == month_of(now) else budget


class Spending(msgspec.Struct, frozen=True):
    """What one turn may take, and what is to be done with what it took; None where nobody counts."""

    tokens: int | None = None
    at_end: Callable[[Context, int], None] | None = None


@asynccontextmanager
async def spending(ctx: Context, agent: Agent) -> AsyncIterator[Spending]:
    """For as long as a turn is being begun; from then on its end is what counts.

    A key with a budget has as many turns at once as what is left of it can pay, and one in any case: each
    counts when it ends, so more of them together would overspend.
    """
    if ctx.principal.kind != "embed_key":
        yield Spending()
        return
    if ctx.principal.tokens_left is None:
        yield Spending(None, _counting(ctx.principal.id))
        return
    left, give_back = await _hold(ctx, agent)
    try:
        yield Spending(left, _counting(ctx.principal.id, give_back))
    except BaseException:
        await give_back()
        raise


async def _hold(ctx: Context, agent: Agent) -> tuple[int, Callable[[], Awaitable[None]]]:
    """What is left at this moment, and how to give the key's place back."""
    # Not what the key had when the request came in: a client may take its time to send the rest of it.
    key = await ctx.db.get(EmbedKey, ctx.principal.id)
    left = tokens_left(key.monthly_token_budget, key.tokens_used, key.tokens_month, ctx.now) if key else 0
    if key is None or (left is not None and left <= 0):
        raise _spent(ctx, key)
    left = MAX_TOKENS if left is None else left
    name, lease_id, limiter = f"spending:{key.id}", new_id("lease"), ctx.instance.limiter
    limit = max(1, left // _most_tokens(agent))
    if not await limiter.acquire(name, limit, lease_id, LEASE_S):
        raise too_many_at_once(ctx, limit)

    async def give_back() -> None:
        await limiter.release(name, lease_id)

    return left, give_back


def _most_tokens(agent: Agent) -> int:
    """What a turn can come to: an agent that has nothing to use asks its model once."""
    if agent.tool_count or agent.sub_agent_count or agent.web_search.enabled:
        return MAX_TOKENS
    prompt = len(agent.system_prompt) + MAX_HISTORY_CHARACTERS + 2 * MAX_MESSAGE + _PASSAGES
    return min(MAX_TOKENS, estimated_tokens(prompt) + agent.max_tokens)


def _counting(
    key_id: str, give_back: Callable[[], Awaitable[None]] | None = None
) -> Callable[[Context, int], None]:
    """Adds a turn to its key, last of all in the turn's transaction: the row is held for a moment only."""

    def count(unit: Context, tokens: int) -> None:
        now = unit.now
        month = month_of(now)
        unit.db.execute_at_commit(_COUNT, key_id=key_id, now=now, month=month, tokens=tokens, requests=1)
        if give_back is not None:
            unit.after_commit(give_back)

    return count


async def count_rest(unit: Context, key_id: str, result: dict[str, Any]) -> None:
    """What a turn took after it had waited for approvals: more tokens, and no other request."""
    now = unit.now
    unit.db.execute_at_commit(
        _COUNT, key_id=key_id, now=now, month=month_of(now), tokens=result["tokens"], requests=0
    )


def _spent(ctx: Context, key: EmbedKey | None) -> TokenBudgetSpent:
    """Refuses a key that has spent its month, until the next one begins."""
    now = moment(ctx.now)
    begins = datetime(now.year, now.month, 1, tzinfo=UTC)
    ends = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    return TokenBudgetSpent(
        limit=(key and key.monthly_token_budget) or 0,
        window=int((ends - begins).total_seconds()),
        retry_after=max(1, int((ends - now).total_seconds())),
        reset=int(ends.timestamp()),
        message="The key has used up its tokens for this month.",
    )
