"""Paginated lists, declared by their record and the fields to search, sort and filter by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa
from msgspec import Meta

from retinue.kit.clock import Instant
from retinue.kit.db.models import Record
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, row_reader
from retinue.kit.db.text_match import contains_text, contains_text_parameters
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import read_instant

R = TypeVar("R", bound=Record)
T = TypeVar("T")

MAX_PER_PAGE = 100

_NOTHING: Mapping[str, str] = {}


class PageQuery(msgspec.Struct, kw_only=True):
    page: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    per_page: Annotated[int, Meta(ge=1)] = 20


class ListQuery(PageQuery, kw_only=True):
    search: Annotated[str, Meta(max_length=100)] | None = None
    sort: str | None = None


class Pagination(msgspec.Struct):
    page: int
    per_page: int
    total: int
    total_pages: int


class Page(msgspec.Struct, Generic[T]):
    data: list[T]
    pagination: Pagination


class FlatPage(msgspec.Struct, Generic[T]):
    """A page whose numbers appear both in `pagination` and at the top level."""

    data: list[T]
    pagination: Pagination
    total: int
    page: int
    per_page: int


class Slice(msgspec.Struct, Generic[T]):
    """One page of records, before conversion to its public shape."""

    items: list[T]
    total: int
    page: int
    per_page: int

    @classmethod
    def of_all(cls, items: list[T], query: PageQuery) -> "Slice[T]":
        """Return one page of items that are all in memory."""
        per_page = min(query.per_page, MAX_PER_PAGE)
        start = (query.page - 1) * per_page
        return cls(items[start : start + per_page], len(items), query.page, per_page)

    def to_page(self, show: Callable[[T], Any]) -> Page[Any]:
        """Return the page as `{ data, pagination }`."""
        return Page([show(item) for item in self.items], self._pagination)

    def to_flat_page(self, show: Callable[[T], Any]) -> FlatPage[Any]:
        """Return the page as `{ data, pagination, total, page, per_page }`."""
        data = [show(item) for item in self.items]
        return FlatPage(data, self._pagination, self.total, self.page, self.per_page)

    @property
    def _pagination(self) -> Pagination:
        pages = -(-self.total // self.per_page)
        return Pagination(self.page, self.per_page, self.total, pages)


@dataclass(frozen=True)
class _Statements:
    rows: Statement[Any]
    count: Statement[Any]
    count_after: Statement[Any] | None
    """Counts the rows after a given one, where that is cheaper than to count all."""


class Listing(Generic[R]):
    def __init__(
        self,
        record: type[R],
        *,
        searches: tuple[str, ...] = (),
        sorts: tuple[str, ...] = ("created_at",),
        filters: tuple[str, ...] = (),
        from_: Mapping[str, str] = _NOTHING,
        until: Mapping[str, str] = _NOTHING,
        matches: Mapping[str, Any] = _NOTHING,
        only: tuple[Any, ...] = (),
        default_sort: str = "-created_at",
        sort_prefixes: Mapping[str, str] = _NOTHING,
        heavy: bool = False,
    ) -> None:
        """Declare a list.

        `from_` and `until` map a query parameter holding an instant to the column it bounds. `matches` maps
        a query parameter to the condition that uses it; `only` holds conditions that always apply.
        `sort_prefixes` maps a column to one that holds its first characters and is indexed in its place.
        """
        self._record = record
        self._searches = searches
        self._sorts = sorts
        self._filters = filters
        self._bounds = {
            **{name: table_column >= _bound(name) for name, table_column in _columns(record, from_)},
            **{name: table_column <= _bound(name) for name, table_column in _columns(record, until)},
        }
        self._conditions = {**matches, **self._bounds}
        self._only = only
        self._default_sort = default_sort
        self._sort_prefixes = sort_prefixes
        self._heavy = heavy
        self._statements: dict[Any, _Statements] = {}

    async def page(self, db: SystemDb, query: PageQuery, **equal: Any) -> Slice[R]:
        """Return the requested page; `equal` adds conditions to the caller's filters."""
        parameters = {**self._filtered(query), **equal}
        search = getattr(query, "search", None)
        sort = getattr(query, "sort", None)
        sort = self._default_sort if sort is None else sort
        statements = self._statements_for(tuple(parameters), sort, is_search=bool(search))
        if search:
            parameters |= contains_text_parameters("search", search)
        per_page = min(query.per_page, MAX_PER_PAGE)
        offset = (query.page - 1) * per_page
        items: list[R] = []
        if offset == 0:
            items = await db.rows(statements.rows, row_limit=per_page, row_offset=0, **parameters)
            if len(items) < per_page:
                # A first page that is not full holds everything: nothing has to be counted.
                return Slice(items, len(items), query.page, per_page)
            if statements.count_after is not None:
                last = self._position_of(items[-1], sort.removeprefix("-"))
                rest = int(await db.scalar(statements.count_after, **last, **parameters))
                return Slice(items, len(items) + rest, query.page, per_page)
        total = max(len(items), int(await db.scalar(statements.count, **parameters)))
        if 0 < offset < total:
            items = await db.rows(statements.rows, row_limit=per_page, row_offset=offset, **parameters)
        return Slice(items, total, query.page, per_page)

    def _prefix_of(self, field: str) -> tuple[str, ...]:
        return (self._sort_prefixes[field],) if field in self._sort_prefixes else ()

    def _position_of(self, item: R, field: str) -> dict[str, Any]:
        """Return the parameters of `_count_after`."""
        position = {"last_value": getattr(item, field), "last_id": item.id}
        for name in self._prefix_of(field):
            position["last_prefix"] = getattr(item, name)
        return position

    def _filtered(self, query: PageQuery) -> JsonObject:
        given = {name: getattr(query, name) for name in (*self._filters, *self._conditions)}
        given = {name: value for name, value in given.items() if value is not None}
        return {
            name: query_instant(name, value) if name in self._bounds else value
            for name, value in given.items()
        }

    def _statements_for(self, equal: tuple[str, ...], sort: str, *, is_search: bool) -> _Statements:
        key = (equal, sort, is_search)
        statements = self._statements.get(key)
        if statements is None:
            statements = self._statements[key] = self._build(equal, sort, is_search=is_search)
        return statements

    def _build(self, equal: tuple[str, ...], sort: str, *, is_search: bool) -> _Statements:
        table = self._record.__table__
        field = sort.removeprefix("-")
        if field not in self._sorts:
            raise Invalid({"sort": f"must be one of {', '.join(self._sorts)}"})
        conditions = [self._condition(table, name) for name in equal]
        conditions += self._only
        if is_search:
            conditions.append(sa.or_(*(contains_text(table.c[name], "search") for name in self._searches)))
        down = sort.startswith("-")
        columns = [table.c[name] for name in (*self._prefix_of(field), field, "id")]
        order = [_ordered(column, down=down) for column in columns]
        rows = (
            sa.select(*(table.c[name] for name in self._record.__shape__.names))
            .where(*conditions)
            .order_by(*order)
            .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
            .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
        )
        count = sa.select(sa.func.count()).select_from(table).where(*conditions)
        after = None
        if is_search and not table.c[field].nullable:
            # A search reads every row. The page ends at its last match, so the count goes on from there.
            after = Statement(_count_after(count, columns, down=down), heavy=self._heavy)
        return _Statements(
            Statement(rows, row_reader(self._record), heavy=self._heavy),
            Statement(count, heavy=self._heavy),
            after,
        )

    def _condition(self, table: sa.Table, name: str) -> Any:
        declared = self._conditions.get(name)
        return table.c[name] == sa.bindparam(name, type_=table.c[name].type) if declared is None else declared


def _columns(record: type[Record], named: Mapping[str, str]) -> list[tuple[str, Any]]:
    return [(name, record.__table__.c[column]) for name, column in named.items()]


def _bound(name: str) -> Any:
    return sa.bindparam(name, type_=sa.Text())


def query_instant(name: str, written: str) -> Instant:
    """Parse an instant; errors name `from_` as `from`, and a `+` in a query string arrives as a space."""
    return read_instant(name.rstrip("_"), written.replace(" ", "+"))


def _ordered(column: sa.Column[Any], *, down: bool) -> Any:
    """Sort nulls last in both directions; the databases' defaults differ."""
    ordered = column.desc() if down else column.asc()
    return ordered.nulls_last() if column.nullable else ordered


def _count_after(count: sa.Select[Any], columns: list[sa.Column[Any]], *, down: bool) -> sa.Select[Any]:
    """Count the rows that follow the one with `last_value` and `last_id`, and with `last_prefix` if any."""
    *prefixes, column, id = columns
    after_last = _after_last(column, id, down=down)
    if not prefixes:
        return count.where(*after_last)
    [prefix] = prefixes
    last = sa.bindparam("last_prefix", type_=prefix.type)
    # Apart, because an index with the prefix answers the first count, which is the long one, alone.
    beyond = count.where(prefix < last if down else prefix > last)
    return sa.select(beyond.scalar_subquery() + count.where(prefix == last, *after_last).scalar_subquery())


def _after_last(column: sa.Column[Any], id: sa.Column[Any], *, down: bool) -> tuple[Any, Any]:
    value, last_id = sa.bindparam("last_value", type_=column.type), sa.bindparam("last_id", type_=id.type)
    # Not one OR of both: a range of the column is found by its index.
    if down:
        return column <= value, sa.not_(sa.and_(column == value, id >= last_id))
    return column >= value, sa.not_(sa.and_(column == value, id <= last_id))
