"""The statements of a search: two for each source, by name and by id, each with a bounded result."""

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.context.search_sources import SearchSource
from retinue.kit.db.planner import selective
from retinue.kit.db.statements import Statement
from retinue.kit.db.text_match import contains_text, contains_text_parameters, escape_like
from retinue.kit.ids import is_whole_id
from retinue.kit.text.search import fold_case

NEWEST_COUNT = 5_000
"""How many records of a source with `newest_by` are searched by name."""

_LIMIT: Any = sa.bindparam("row_limit", type_=sa.BigInteger())
_BY_ID, _BY_NAME, _BY_WORD, _WITHIN_NAME, _BY_DESCRIPTION = range(5)

Match = tuple[str, str, str | None, str | None, int]
"""Id, name, description, parent and rank; a lower rank is a better match."""


async def find_matches(ctx: Context, source: SearchSource, text: str, limit: int) -> Sequence[Match]:
    """Return the best matches of one source that the caller may see."""
    is_own = source.reads_all is not None and not source.reads_all(ctx.principal)
    own = {"of_user": ctx.principal.id} if is_own else {}
    found: list[Match] = []
    prefix = source.record.__prefix__
    if is_whole_id(prefix, text):
        statement = _by_whole_id(source.kind, source, is_own)
        found += await ctx.db.rows(statement, whole=text, row_limit=limit, **own)
        if found:
            return found
    elif text.startswith(f"{prefix}_"):
        # Ids are ASCII, so no id with this beginning is greater than the beginning followed by a tilde.
        statement = _by_id(source.kind, source, is_own)
        found += await ctx.db.rows(statement, first=text, last=text + "~", row_limit=limit, **own)
    plain = escape_like(fold_case(text))
    parameters: dict[str, Any] = {
        **contains_text_parameters("search", text),
        **own,
        "starts": f"{plain}%",
        "has_word": f"% {plain}%",
    }
    if source.newest_by:
        parameters["newest"] = NEWEST_COUNT
    found += await ctx.db.rows(_by_name(source.kind, source, is_own), row_limit=limit, **parameters)
    return [(id, name.strip(), description, parent, rank) for id, name, description, parent, rank in found]


class _Cached:
    """Statements by type of source: a source holds expressions, which do not compare."""

    def __init__(self, build: Any) -> None:
        self._build = build
        self._built: dict[tuple[str, bool], Statement[Any]] = {}
        functools.update_wrapper(self, build)

    def __call__(self, type: str, source: SearchSource, is_own: bool) -> Statement[Any]:
        key = (type, is_own)
        if key not in self._built:
            self._built[key] = self._build(source, is_own)
        return self._built[key]


def _columns(source: SearchSource, rank: Any) -> list[Any]:
    nothing = sa.cast(sa.null(), sa.Text())
    return [
        source.record.__table__.c.id,
        source.name.label("found_name"),
        (nothing if source.description is None else source.description).label("found_description"),
        (nothing if source.parent is None else source.parent).label("found_parent"),
        rank.label("rank"),
    ]


def _visible(source: SearchSource, is_own: bool) -> list[Any]:
    own = [source.record.__table__.c.user_id == sa.bindparam("of_user")] if is_own else []
    return [*source.only, *own]


@_Cached
def _by_whole_id(source: SearchSource, is_own: bool) -> Statement[Any]:
    """SQLite reads a whole tenant for a range of ids, in spite of what it is told; one id it looks up."""
    is_wanted = source.record.__table__.c.id == sa.bindparam("whole", type_=sa.Text())
    columns = _columns(source, sa.literal(_BY_ID))
    return Statement(sa.select(*columns).where(is_wanted, *_visible(source, is_own)).limit(_LIMIT))


@_Cached
def _by_id(source: SearchSource, is_own: bool) -> Statement[Any]:
    id = source.record.__table__.c.id
    bounds = (
        selective(id >= sa.bindparam("first", type_=sa.Text())),
        selective(id < sa.bindparam("last", type_=sa.Text())),
    )
    found = sa.select(*_columns(source, sa.literal(_BY_ID))).where(*bounds, *_visible(source, is_own))
    return Statement(found.order_by(id).limit(_LIMIT))


@_Cached
def _by_name(source: SearchSource, is_own: bool) -> Statement[Any]:
    if source.newest_by:
        return Statement(_among_newest(source, is_own))
    matches = [contains_text(source.name, "search")]
    if source.description is not None:
        matches.append(contains_text(source.description, "search"))
    found = sa.select(*_columns(source, _rank(source.name))).where(
        sa.or_(*matches), *_visible(source, is_own)
    )
    return Statement(found.order_by(_rank(source.name), source.name).limit(_LIMIT))


def _among_newest(source: SearchSource, is_own: bool) -> Any:
    newest = [source.record.__table__.c[name].desc() for name in source.newest_by]
    rows = (
        sa.select(*_columns(source, sa.literal(0))[:-1])
        .where(*_visible(source, is_own))
        .order_by(*newest)
        .limit(sa.bindparam("newest", type_=sa.BigInteger()))
        .subquery()
    )
    rank = _rank(rows.c.found_name)
    return (
        sa.select(*rows.c, rank.label("rank"))
        .where(contains_text(rows.c.found_name, "search"))
        .order_by(rank)
        .limit(_LIMIT)
    )


def _rank(name: Any) -> Any:
    def begins(parameter: str) -> Any:
        return name.ilike(sa.bindparam(parameter, type_=sa.Text()), escape="\\")

    return sa.case(
        (begins("starts"), sa.literal(_BY_NAME)),
        (begins("has_word"), sa.literal(_BY_WORD)),
        (contains_text(name, "search"), sa.literal(_WITHIN_NAME)),
        else_=sa.literal(_BY_DESCRIPTION),
    )
