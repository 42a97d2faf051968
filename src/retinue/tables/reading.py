"""Questions of callers about rows, from their query parameters to the shapes of the answers."""

from typing import Any

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tables import queries, rows
from retinue.tables.filters import Condition, Filtering
from retinue.tables.models import DataTable
from retinue.tables.schemas import JsonObject, RowPage, RowPagination, RowQuery, RowsDelete, RowsDeleted
from retinue.tables.storage import OWN, Layout


def condition(
    table: DataTable, filter: str | None, search: str | None, pairs: list[tuple[str, str]]
) -> Condition:
    filtering = Filtering(Layout(table))
    if filter is not None:
        filtering.add_filter_text(filter)
    filtering.add_where(pairs)
    if search:
        filtering.add_search(search)
    return filtering.condition()


def fields(table: DataTable, asked: str | None) -> list[str]:
    """The names of what is shown of a row; its id is always."""
    known = [OWN[0], *(column.name for column in table.columns), *OWN[1:]]
    if asked is None:
        return known
    wanted = {name.strip() for name in asked.split(",") if name.strip()}
    unknown = wanted.difference(known)
    if unknown:
        raise Invalid({"fields": f"there is no column {', '.join(sorted(unknown))}"})
    return [name for name in known if name in wanted or name == OWN[0]]


async def page(ctx: Context, table: DataTable, query: RowQuery, pairs: list[tuple[str, str]]) -> RowPage:
    shown = fields(table, query.fields)
    found = await queries.page(
        ctx,
        table,
        condition(table, query.filter, query.search, pairs),
        sort=query.sort,
        page=query.page,
        per_page=query.per_page,
    )
    show = Layout(table).show
    data = [show(row) for row in found.items]
    if query.fields is not None:
        data = [{name: row[name] for name in shown} for row in data]
    pages = -(-found.total // found.per_page)
    return RowPage(data, RowPagination(found.page, found.per_page, found.total, pages, found.is_exact))


async def created(ctx: Context, table: DataTable, body: dict[str, Any]) -> JsonObject | list[JsonObject]:
    show = Layout(table).show
    if "rows" not in body:
        (row,) = await rows.create(ctx, table, [body])
        return show(row)
    many = body["rows"]
    if not isinstance(many, list) or not 0 < len(many) <= rows.MOST_AT_ONCE:
        raise Invalid({"rows": f"must be a list of 1 to {rows.MOST_AT_ONCE} rows"})
    faults = {f"rows.{at}": "must be an object" for at, one in enumerate(many) if not isinstance(one, dict)}
    if faults:
        raise Invalid(faults)
    places = [f"rows.{at}" for at in range(len(many))]
    return [show(row) for row in await rows.create(ctx, table, many, places)]


async def deleted(ctx: Context, table: DataTable, body: RowsDelete) -> RowsDeleted:
    filtering = Filtering(Layout(table))
    filtering.add_filter(body.filter)
    wanted = filtering.condition()
    if wanted.holds_for_all:
        raise Invalid({"filter": "must say which rows; to empty a table, delete it or replace its rows"})
    matched, gone = await rows.delete_matching(ctx, table, wanted, is_dry=body.dry_run)
    return RowsDeleted(matched=matched, deleted=gone)
