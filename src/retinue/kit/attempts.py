"""Limits on guessing, counted in the database.

An attempt at something short is counted before it is checked (`count`), so no race slips past. Where machines
prove long random secrets, many at once, only failures are counted (`require_attempts_left` asks before).
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Context
from retinue.kit.db.models import Record, table
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RateLimited


@table("attempts", prefix="att", indexes=[("window_ends",)])
class Attempts(Record, kw_only=True):
    """Number of attempts in the current window; `id` is a hash of the guard's name and its key parts."""

    count: int
    window_ends: float


_attempts = Attempts.__table__
_new = postgresql.insert(_attempts).values(
    id=sa.bindparam("key"),
    count=1,
    window_ends=sa.bindparam("window_ends"),
    created_at=sa.bindparam("now"),
    updated_at=sa.bindparam("now"),
)
_over = _attempts.c.window_ends <= sa.bindparam("clock", type_=sa.Double())
_COUNT = Statement(
    _new.on_conflict_do_update(
        index_elements=[_attempts.c.id],
        set_={
            "count": sa.case((_over, 1), else_=_attempts.c.count + 1),
            "window_ends": sa.case((_over, _new.excluded.window_ends), else_=_attempts.c.window_ends),
            "updated_at": _new.excluded.updated_at,
        },
    ).returning(_attempts.c.count, _attempts.c.window_ends)
)
_CLEAR = Statement(sa.delete(_attempts).where(_attempts.c.id == sa.bindparam("key")))
_UNCOUNT = Statement(
    sa.update(_attempts)
    .where(_attempts.c.id == sa.bindparam("key"), _attempts.c.count > 0)
    .values(count=_attempts.c.count - 1)
)
_CURRENT = Statement(
    sa.select(_attempts.c.count, _attempts.c.window_ends).where(
        _attempts.c.id == sa.bindparam("key"),
        _attempts.c.window_ends > sa.bindparam("clock", type_=sa.Double()),
    )
)
_SWEEP = Statement(
    sa.delete(_attempts).where(_attempts.c.window_ends < sa.bindparam("clock", type_=sa.Double()))
)


class _Turn:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


class AttemptGuard:
    """Allows at most `limit` attempts in `window_s` seconds for each combination of key parts."""

    def __init__(
        self,
        name: str,
        *,
        limit: int,
        window_s: int,
        message: str,
        error: type[RateLimited] = RateLimited,
    ) -> None:
        self._name = name
        self._limit = limit
        self._window_s = window_s
        self._message = message
        self._error = error
        self._turns: dict[str, _Turn] = {}

    @asynccontextmanager
    async def turn(self, *parts: str) -> AsyncIterator[None]:
        """Serialize the attempts for one key within this process.

        An attempt is counted before it is checked and reset on success. Without turns, six concurrent
        requests with the right password would count as six guesses.
        """
        key = self._key(parts)
        turn = self._turns.setdefault(key, _Turn())
        turn.waiting += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                del self._turns[key]

    def _key(self, parts: tuple[str, ...]) -> str:
        text = "\0".join((self._name, *parts))
        return "att_" + hashlib.sha256(text.encode()).hexdigest()

    async def count(self, ctx: Context, *parts: str) -> None:
        """Count an attempt in its own transaction; raise `RateLimited` if it exceeds the limit."""
        await self._count(ctx, parts, self._window_s)

    async def _count(self, ctx: Context, parts: tuple[str, ...], window_s: int) -> int:
        clock = ctx.clock.time()
        async with ctx.unit() as unit:
            rows = await unit.system("callers are not signed in yet").execute(
                _COUNT,
                key=self._key(parts),
                window_ends=clock + window_s,
                clock=clock,
                now=ctx.now,
            )
        count, window_ends = rows[0]
        if count > self._limit:
            raise self._refusal(window_s, window_ends, clock)
        return int(count)

    def _refusal(self, window_s: int, window_ends: float, clock: float) -> RateLimited:
        wait = max(1, int(window_ends - clock) + 1)
        return self._error(
            limit=self._limit,
            window=window_s,
            retry_after=wait,
            reset=int(window_ends) + 1,
            message=f"{self._message} Try again in {wait} seconds.",
        )

    async def require_attempts_left(self, ctx: Context, *parts: str) -> int:
        """Return the number of attempts in the open window; raise `RateLimited` if they are used up."""
        count, window_ends = await self._current(ctx, parts)
        if count >= self._limit:
            raise self._refusal(self._window_s, window_ends, ctx.clock.time())
        return count

    async def current_count(self, ctx: Context, *parts: str) -> int:
        """Return the number of attempts in the open window."""
        count, _ = await self._current(ctx, parts)
        return count

    async def _current(self, ctx: Context, parts: tuple[str, ...]) -> tuple[int, float]:
        async with ctx.unit() as unit:
            system = unit.system("callers are not signed in yet")
            row = await system.first(_CURRENT, key=self._key(parts), clock=ctx.clock.time())
        return (0, 0.0) if row is None else (int(row[0]), float(row[1]))

    async def reset_attempts(self, ctx: Context, *parts: str) -> None:
        """Delete the count after a successful attempt."""
        await ctx.system("callers are not signed in yet").execute(_CLEAR, key=self._key(parts))

    async def uncount(self, ctx: Context, *parts: str) -> None:
        """Subtract one attempt that was not a guess; the others stay counted."""
        await ctx.system("callers are not signed in yet").execute(_UNCOUNT, key=self._key(parts))


class BackoffGuard(AttemptGuard):
    """A guard whose window doubles each time the attempts are used up; a success or a day resets it."""

    _ROUNDS_TTL_SECONDS = 86_400

    def __init__(self, name: str, *, limit: int, window_s: int, max_window_s: int, message: str) -> None:
        super().__init__(name, limit=limit, window_s=window_s, message=message)
        self._max_window_s = max_window_s
        # Counts the exhausted windows; it never refuses.
        self._rounds = AttemptGuard(
            f"{name}-rounds", limit=2**31, window_s=self._ROUNDS_TTL_SECONDS, message=message
        )

    async def count(self, ctx: Context, *parts: str) -> None:
        """Count an attempt as `AttemptGuard` does; the last allowed one lengthens the next window."""
        rounds = await self._rounds.current_count(ctx, *parts)
        window_s = min(self._window_s << min(rounds, 16), self._max_window_s)
        if await self._count(ctx, parts, window_s) == self._limit:
            await self._rounds.count(ctx, *parts)

    async def reset_attempts(self, ctx: Context, *parts: str) -> None:
        await super().reset_attempts(ctx, *parts)
        await self._rounds.reset_attempts(ctx, *parts)


async def purge_attempts(ctx: Context) -> None:
    await ctx.system("expired windows of all callers").execute(_SWEEP, clock=ctx.clock.time())
