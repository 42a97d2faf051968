"""Finding events of the log by their text."""

import functools
from typing import Any

import sqlalchemy as sa

from retinue.events.schemas import EventLogQuery
from retinue.kit.context import Context
from retinue.kit.context.conversation_access import reads_all_conversations
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.text_match import contains_text, contains_text_parameters
from retinue.kit.events.declare import EVENT_TYPES
from retinue.kit.events.models import EventEntry
from retinue.kit.lists import MAX_PER_PAGE, Slice

_events = EventEntry.__table__
_ORDER = (_events.c.created_at.desc(), _events.c.position.desc(), _events.c.id.desc())


def _equal(name: str) -> Any:
    return _events.c[name] == sa.bindparam(name, type_=sa.Text())


_quotes = sa.cast(_events.c.conversation_ids, sa.Text())
_data = contains_text(sa.cast(_events.c.data, sa.Text()), "search")
_named = tuple(
    contains_text(_events.c[name], "search") for name in ("type", "id", "subject_id", "correlation_id")
)
# Whoever may not read a conversation cannot find out its words either.
_quotes_nothing = sa.and_(
    sa.func.coalesce(_quotes, "null") == "null", sa.not_(in_list(_events.c.type, "about_conversations"))
)
CONDITIONS: dict[str, Any] = {
    "event_type": _events.c.type == sa.bindparam("event_type", type_=sa.Text()),
    "category": _equal("category"),
    "correlation_id": _equal("correlation_id"),
    "since": _events.c.created_at >= sa.bindparam("since", type_=sa.Text()),
    "until": _events.c.created_at <= sa.bindparam("until", type_=sa.Text()),
    "anywhere": sa.or_(*_named, _data),
    "readable": sa.or_(*_named, sa.and_(_quotes_nothing, _data)),
}


@functools.cache
def _rows(names: tuple[str, ...]) -> Statement[EventEntry]:
    return record_statement(
        EventEntry,
        sa.select(*(_events.c[name] for name in EventEntry.__shape__.names))
        .where(*(CONDITIONS[name] for name in names))
        .order_by(*_ORDER)
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger())),
        heavy=True,
    )


@functools.cache
def _count(names: tuple[str, ...]) -> Statement[Any]:
    conditions = (CONDITIONS[name] for name in names)
    return Statement(sa.select(sa.func.count()).select_from(_events).where(*conditions), heavy=True)


@functools.cache
def _types_about_conversations() -> str:
    return list_parameter(
        sorted(
            name for name, kind in EVENT_TYPES.items() if kind.content and kind.subject == "conversation_id"
        )
    )


def _parameters(
    ctx: Context, search: str | None, equal: dict[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names of the conditions and the parameters of the statements."""
    if not search:
        return tuple(sorted(equal)), equal
    given = equal | contains_text_parameters("search", search)
    if reads_all_conversations(ctx):
        return (*sorted(equal), "anywhere"), given
    return (*sorted(equal), "readable"), given | {"about_conversations": _types_about_conversations()}


async def newest_events(
    ctx: Context, search: str | None, equal: dict[str, str], limit: int, offset: int = 0
) -> list[EventEntry]:
    """Return matching events, newest first."""
    names, given = _parameters(ctx, search, equal)
    return await ctx.db.rows(_rows(names), row_limit=limit, row_offset=offset, **given)


async def page_of_search(ctx: Context, query: EventLogQuery, equal: dict[str, str]) -> Slice[EventEntry]:
    """Return one page of the events whose names, ids or data contain the text, newest first."""
    per_page = min(query.per_page, MAX_PER_PAGE)
    offset = (query.page - 1) * per_page
    found = await newest_events(ctx, query.search, equal, per_page, offset)
    if found and len(found) < per_page:
        return Slice(found, offset + len(found), query.page, per_page)
    if not found and not offset:
        return Slice([], 0, query.page, per_page)
    names, given = _parameters(ctx, query.search, equal)
    return Slice(found, int(await ctx.db.scalar(_count(names), **given)), query.page, per_page)
