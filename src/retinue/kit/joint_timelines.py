"""Timelines over several tables whose entries are listed together (ADR 23)."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.timelines import Milestoned

_AT, _TIE = "at", "tie"
_PREFIX_LENGTH = 4
"""Length of `log_`: entries of the same instant are in the order of their ids without the prefix."""


@dataclass(frozen=True)
class TimelineSource:
    """A table of entries with prefixes of this length, by an immutable time column.

    `conditions` maps a parameter to its condition, or to None if every entry meets it. `measures` are the
    other values to sort by. `only` are conditions that always apply. `narrow` names the parameters that few
    entries match: these are found by the index of the condition and then sorted.
    """

    table: sa.Table
    column: str
    conditions: Mapping[str, Any]
    measures: Mapping[str, Any]
    only: tuple[Any, ...] = ()
    narrow: frozenset[str] = frozenset()

    def time(self, names: Sequence[str]) -> Any:
        column = self.table.c[self.column]
        # No database sorts by an index for this, and reads a whole timeline to find few of its entries.
        return column.concat("") if self.narrow.intersection(names) else column

    def matching(self, names: Sequence[str], bounds: Callable[[Any], Mapping[str, Any]]) -> list[Any]:
        known = {**self.conditions, **bounds(self.time(names))}
        return [*self.only, *(known[name] for name in names if known[name] is not None)]


class JointTimeline(Milestoned[str]):
    """The ids of entries of several tables, in one order."""

    def __init__(self, *sources: TimelineSource) -> None:
        super().__init__()
        self._sources = sources
        self._sorted = functools.cache(self._sorted_statement)

    async def page_by(
        self, ctx: Context, measure: str, filters: dict[str, Any], *, is_descending: bool, **range_: Any
    ) -> list[str]:
        """Return entries sorted by another measure than time: every match is read."""
        limit, offset = range_.pop("limit"), range_.pop("offset")
        wanted = filters | {name: value for name, value in range_.items() if value is not None}
        statement = self._sorted(measure, tuple(sorted(wanted)), is_descending=is_descending)
        return await ctx.db.rows(statement, row_limit=limit, row_offset=offset, **wanted)

    def _built(self, kind: str, names: tuple[str, ...]) -> Statement[Any]:
        if kind == "count":
            counts = [sa.select(sa.func.count()).where(*where) for _, where in self._matching(names)]
            total = functools.reduce(add, (count.scalar_subquery() for count in counts))
            return Statement(sa.select(total), heavy=True)
        if kind == "oldest":
            oldest = [
                sa.select(sa.func.min(time).label(_AT)).where(*where) for time, where in self._matching(names)
            ]
            return Statement(sa.select(sa.func.min(sa.union_all(*oldest).subquery().c[_AT])))
        if kind == "next":
            return self._next(names)
        return self._sorted_statement("", names, is_descending=True)

    def _next(self, names: tuple[str, ...]) -> Statement[Any]:
        step = sa.bindparam("step", type_=sa.BigInteger())
        branches = []
        for time, where in self._matching(names):
            after = time > sa.bindparam("last", type_=sa.Text())
            branches.append(sa.select(time.label(_AT)).where(*where, after).order_by(time).limit(step + 1))
        times = _together(branches)
        return Statement(sa.select(times.c[_AT]).order_by(times.c[_AT]).limit(1).offset(step), heavy=True)

    def _sorted_statement(
        self, measure: str, names: tuple[str, ...], *, is_descending: bool
    ) -> Statement[Any]:
        """Each table gives its own first entries, so that its index is enough; then they are merged."""
        limit = sa.bindparam("row_limit", type_=sa.BigInteger())
        offset = sa.bindparam("row_offset", type_=sa.BigInteger())
        branches = []
        for source, (time, where) in zip(self._sources, self._matching(names), strict=True):
            key, id = source.measures[measure] if measure else time, source.table.c.id
            tie = sa.func.substr(id, _PREFIX_LENGTH + 1).label(_TIE)
            order = [column.desc() if is_descending else column.asc() for column in (key, id)]
            branches.append(
                sa.select(id.label("id"), key.label(_AT), tie)
                .where(*where)
                .order_by(*order)
                .limit(limit + offset)
            )
        found = _together(branches)
        order = [found.c[name].desc() if is_descending else found.c[name].asc() for name in (_AT, _TIE)]
        merged = sa.select(found.c.id).order_by(*order).limit(limit).offset(offset)
        return Statement(merged, lambda row: row[0], heavy=True)

    def _matching(self, names: tuple[str, ...]) -> list[tuple[Any, list[Any]]]:
        return [(one.time(names), one.matching(names, self._bounds)) for one in self._sources]


def _together(branches: Sequence[sa.Select[Any]]) -> sa.Subquery:
    # SQLite allows an order in a part of a union only within a query of its own.
    return sa.union_all(*(sa.select(branch.subquery()) for branch in branches)).subquery()
