"""Append-only lists with exact totals and pages at any depth, by means of milestones (ADR 23).

A milestone is an instant and the number of older entries. Two milestones are about ten thousand entries
apart, so a count or a page scans no more than that, however long the list is. Each process keeps them in
memory and sets them only where nothing is written any more. They are rebuilt when the oldest entry is
deleted, and after a fixed time in any case.
"""

import functools
import weakref
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.lists import MAX_PER_PAGE, PageQuery, Slice

MILESTONE_INTERVAL = 10_000
"""Number of entries between two milestones."""
SETTLED_AFTER_SECONDS = 300
"""Maximum delay between an entry's instant and its storage."""
MILESTONE_TTL_SECONDS = 900
_MAX_LISTS = 2_000

T = TypeVar("T")
R = TypeVar("R", bound=Record)


class _Milestones(msgspec.Struct):
    """The milestones of one list: `before[n]` entries are older than the instant `at[n]`."""

    oldest: str | None
    laid_at: float
    at: list[str] = msgspec.field(default_factory=lambda: [""])
    before: list[int] = msgspec.field(default_factory=lambda: [0])
    is_extended: bool = False


class Milestoned(ABC, Generic[T]):
    """Entries in the order of an immutable time: what the kinds of timelines have in common."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, OrderedDict[Any, _Milestones]] = (
            weakref.WeakKeyDictionary()
        )
        self._statement = functools.cache(self._built)

    async def listed(
        self,
        ctx: Context,
        query: PageQuery,
        filters: dict[str, Any],
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> Slice[T]:
        """Return the requested page, newest first, with the exact total."""
        per_page = min(query.per_page, MAX_PER_PAGE)
        offset = (query.page - 1) * per_page
        total = await self.count(ctx, filters, since, until)
        items: list[T] = []
        if offset < total:
            items = await self.page(ctx, filters, since=since, until=until, limit=per_page, offset=offset)
        return Slice(items, total, query.page, per_page)

    async def count(
        self, ctx: Context, filters: dict[str, Any], since: str | None = None, until: str | None = None
    ) -> int:
        """Count the matching entries from `since` to `until`, both included."""
        marks = await self._milestones(ctx, filters)
        if marks.oldest is None:
            return 0
        return await self._between(ctx, marks, filters, since or "", until)

    async def page(
        self,
        ctx: Context,
        filters: dict[str, Any],
        *,
        since: str | None = None,
        until: str | None = None,
        limit: int,
        offset: int,
    ) -> list[T]:
        """Return entries, newest first; a distant page starts from the nearest milestone."""
        below: str | None = None
        if offset > MILESTONE_INTERVAL:
            marks = await self._milestones(ctx, filters)
            below, newer = await self._milestone_at(ctx, marks, filters, since or "", until, offset)
            offset -= newer
        bounds = {"since": since, "until": until, "below": below}
        wanted = filters | {name: value for name, value in bounds.items() if value is not None}
        statement = self._statement("page", tuple(sorted(wanted)))
        return await ctx.db.rows(statement, row_limit=limit, row_offset=offset, **wanted)

    async def _milestone_at(
        self,
        ctx: Context,
        marks: _Milestones,
        filters: dict[str, Any],
        since: str,
        until: str | None,
        offset: int,
    ) -> tuple[str | None, int]:
        """Return the oldest milestone with at most `offset` newer entries, and their number."""
        last = len(marks.at) - 1 if until is None else bisect_right(marks.at, until) - 1
        newest = await self._counted(ctx, filters, since=marks.at[last], until=until)
        if newest > offset:
            return None, 0
        left = marks.before[last] - (offset - newest)
        index = bisect_left(marks.before, left, hi=last)
        if marks.at[index] <= since or not marks.at[index]:
            index += 1
        if index > last:
            return marks.at[last], newest
        return marks.at[index], newest + marks.before[last] - marks.before[index]

    async def _between(
        self, ctx: Context, marks: _Milestones, filters: dict[str, Any], since: str, until: str | None
    ) -> int:
        last = len(marks.at) - 1 if until is None else bisect_right(marks.at, until) - 1
        first = bisect_left(marks.at, since)
        if first > last:
            return await self._counted(ctx, filters, since=since, until=until)
        total = marks.before[last] - marks.before[first]
        if marks.at[first] != since:
            total += await self._counted(ctx, filters, since=since, below=marks.at[first])
        newest = await self._counted(ctx, filters, since=marks.at[last], until=until)
        if until is None and newest > MILESTONE_INTERVAL:
            marks.is_extended = False
        return total + newest

    async def _counted(self, ctx: Context, filters: dict[str, Any], **bounds: str | None) -> int:
        wanted = filters | {name: value for name, value in bounds.items() if value is not None}
        return int(await ctx.db.scalar(self._statement("count", tuple(sorted(wanted))), **wanted))

    async def _milestones(self, ctx: Context, filters: dict[str, Any]) -> _Milestones:
        lists = self._known.setdefault(ctx.instance.database, OrderedDict())
        key = (ctx.tenant_id, *sorted(filters.items()))
        names = tuple(sorted(filters))
        oldest = await ctx.db.scalar(self._statement("oldest", names), **filters)
        now = ctx.clock.monotonic()
        marks = lists.get(key)
        if marks is None or marks.oldest != oldest or marks.laid_at + MILESTONE_TTL_SECONDS < now:
            marks = _Milestones(oldest, now)
        if not marks.is_extended:
            await self._extend(ctx, marks, filters)
        lists[key] = marks
        lists.move_to_end(key)
        if len(lists) > _MAX_LISTS:
            lists.popitem(last=False)
        return marks

    async def _extend(self, ctx: Context, marks: _Milestones, filters: dict[str, Any]) -> None:
        """Add milestones up to the point where entries may still be written."""
        settled = ctx.clock.ahead(-SETTLED_AFTER_SECONDS)
        statement = self._statement("next", tuple(sorted(filters)))
        while True:
            last = marks.at[-1]
            following = await ctx.db.scalar(statement, last=last, step=MILESTONE_INTERVAL, **filters)
            if following is None or following >= settled:
                break
            between = await self._counted(ctx, filters, since=last, below=following)
            # A concurrent request may have added it.
            if marks.at[-1] == last:
                marks.at.append(following)
                marks.before.append(marks.before[-1] + between)
        marks.is_extended = True

    @abstractmethod
    def _built(self, kind: str, names: tuple[str, ...]) -> Statement[Any]:
        """Build the statement of this kind for these filters and bounds: count, oldest, next or page."""

    @staticmethod
    def _bounds(time: Any) -> dict[str, Any]:
        return {
            "since": time >= sa.bindparam("since", type_=sa.Text()),
            "until": time <= sa.bindparam("until", type_=sa.Text()),
            "below": time < sa.bindparam("below", type_=sa.Text()),
        }


class Timeline(Milestoned[R]):
    """The entries of a table, ordered by an immutable time column and filtered by conditions."""

    def __init__(
        self, record: type[R], column: str, order: tuple[str, ...], conditions: Mapping[str, Any]
    ) -> None:
        """Declare a timeline: `order` breaks ties, `conditions` maps a parameter to its condition."""
        super().__init__()
        table = record.__table__
        self._record = record
        self._time = table.c[column]
        self._order = [self._time, *(table.c[name] for name in order)]
        self._conditions = conditions

    def _built(self, kind: str, names: tuple[str, ...]) -> Statement[Any]:
        time = self._time
        bounds = self._bounds(time)
        conditions = [bounds[name] if name in bounds else self._conditions[name] for name in names]
        if kind == "count":
            return Statement(sa.select(sa.func.count(time)).where(*conditions), heavy=True)
        if kind == "oldest":
            return Statement(sa.select(time).where(*conditions).order_by(time).limit(1), heavy=True)
        if kind == "next":
            after_last = time > sa.bindparam("last", type_=sa.Text())
            source = sa.select(time).where(*conditions, after_last).order_by(time)
            return Statement(source.limit(1).offset(sa.bindparam("step", type_=sa.BigInteger())), heavy=True)
        source = (
            sa.select(*(self._record.__table__.c[name] for name in self._record.__shape__.names))
            .where(*conditions)
            .order_by(*(column.desc() for column in self._order))
            .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
            .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
        )
        return record_statement(self._record, source, heavy=True)
