"""Attempts at guessing: counted before the guess is checked, in the database, so that no race slips past."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Context
from retinue.kit.db.models import Record, table
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RateLimited
from retinue.kit.jobs.declare import NoPayload, job


@table("attempts", prefix="att", indexes=[("window_ends",)])
class Attempts(Record, kw_only=True):
    """How often something was tried in its window; `id` is a hash of what is guarded and by whom."""

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
_COUNT: Statement[Any] = Statement(
    _new.on_conflict_do_update(
        index_elements=[_attempts.c.id],
        set_={
            "count": sa.case((_over, 1), else_=_attempts.c.count + 1),
            "window_ends": sa.case((_over, _new.excluded.window_ends), else_=_attempts.c.window_ends),
            "updated_at": _new.excluded.updated_at,
        },
    ).returning(_attempts.c.count, _attempts.c.window_ends)
)
_CLEAR: Statement[Any] = Statement(sa.delete(_attempts).where(_attempts.c.id == sa.bindparam("key")))
_UNCOUNT: Statement[Any] = Statement(
    sa.update(_attempts)
    .where(_attempts.c.id == sa.bindparam("key"), _attempts.c.count > 0)
    .values(count=_attempts.c.count - 1)
)
_SWEEP: Statement[Any] = Statement(
    sa.delete(_attempts).where(_attempts.c.window_ends < sa.bindparam("clock", type_=sa.Double()))
)


class _Turn:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


class Guard:
    """At most `limit` attempts in `window_s` seconds, for each combination of what it is given."""

    def __init__(self, name: str, *, limit: int, window_s: int, message: str) -> None:
        self._name = name
        self._limit = limit
        self._window_s = window_s
        self._message = message
        self._turns: dict[str, _Turn] = {}

    @asynccontextmanager
    async def turn(self, *parts: str) -> AsyncIterator[None]:
        """One at a time in this process: many right answers at once are not many attempts.

        An attempt is counted before it is checked and forgiven after, so without turns the right password,
        sent six times at once, would look like a sixth guess.
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
        """Count an attempt in a transaction of its own, and refuse it when it is one too many."""
        clock = ctx.clock.time()
        async with ctx.unit() as unit:
            rows = await unit.system("callers are not signed in yet").execute(
                _COUNT,
                key=self._key(parts),
                window_ends=clock + self._window_s,
                clock=clock,
                now=ctx.now,
            )
        count, window_ends = rows[0]
        if count > self._limit:
            wait = max(1, int(window_ends - clock) + 1)
            raise RateLimited(
                limit=self._limit,
                window=self._window_s,
                retry_after=wait,
                reset=int(window_ends) + 1,
                message=f"{self._message} Try again in {wait} seconds.",
            )

    async def forgive(self, ctx: Context, *parts: str) -> None:
        """Forget the attempts: the right answer was given."""
        await ctx.system("callers are not signed in yet").execute(_CLEAR, key=self._key(parts))

    async def take_back(self, ctx: Context, *parts: str) -> None:
        """Uncount one attempt that was none, where others must stay counted."""
        await ctx.system("callers are not signed in yet").execute(_UNCOUNT, key=self._key(parts))


@job(every_s=3600)
async def sweep_attempts(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001
    await ctx.system("windows that are over").execute(_SWEEP, clock=ctx.clock.time())
