"""Requests about rows: from query parameters and bodies to responses."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables import queries, rows
from retinue.tables.filters import Condition, FilterBuilder
from retinue.tables.models import DataTable
from retinue.tables.schemas import RowPage, RowPagination, RowQuery, RowsDelete, RowsDeleted
from retinue.tables.storage import SYSTEM_COLUMNS, Layout, StoredRow


def parse_condition(
    table: DataTable, filter: str | None, search: str | None, pairs: list[tuple[str, str]]
) -> Condition:
    filtering = FilterBuilder(Layout(table))
    if filter is not None:
        filtering.add_filter_text(filter)
    filtering.add_where(pairs)
    if search:
        filtering.add_search(search)
    return filtering.condition()


def parse_fields(table: DataTable, requested: str | None) -> list[str]:
    """Return the names of the fields to show; the id is always included."""
    available = [SYSTEM_COLUMNS[0], *(column.name for column in table.columns), *SYSTEM_COLUMNS[1:]]
    if requested is None:
        return available
    chosen = {name.strip() for name in requested.split(",") if name.strip()}
    unknown = chosen.difference(available)
    if unknown:
        raise Invalid({"fields": f"there is no such column: {', '.join(sorted(unknown))}"})
    return [name for name in available if name in chosen or name == SYSTEM_COLUMNS[0]]


async def page(ctx: Context, table: DataTable, query: RowQuery, pairs: list[tuple[str, str]]) -> RowPage:
    fields = parse_fields(table, query.fields)
    result = await queries.page(
        ctx,
        table,
        parse_condition(table, query.filter, query.search, pairs),
        sort=query.sort,
        page=query.page,
        per_page=query.per_page,
    )
    show = Layout(table).show
    data = [show(row) for row in result.items]
    if query.fields is not None:
        data = [{name: row[name] for name in fields} for row in data]
    pages = -(-result.total // result.per_page)
    return RowPage(data, RowPagination(result.page, result.per_page, result.total, pages, result.is_exact))


async def create_rows(ctx: Context, table: DataTable, body: JsonObject) -> list[StoredRow]:
    """Create the rows of a body, which is one row or has several as `rows`."""
    if "rows" not in body:
        return await rows.create(ctx, table, [body])
    many = body["rows"]
    if not isinstance(many, list) or not 0 < len(many) <= rows.MAX_ROWS_PER_REQUEST:
        raise Invalid({"rows": f"must be a list of 1 to {rows.MAX_ROWS_PER_REQUEST} rows"})
    faults = {f"rows.{at}": "must be an object" for at, row in enumerate(many) if not isinstance(row, dict)}
    if faults:
        raise Invalid(faults)
    places = [f"rows.{at}" for at in range(len(many))]
    return await rows.create(ctx, table, many, places)


async def delete_rows(ctx: Context, table: DataTable, body: RowsDelete) -> RowsDeleted:
    filtering = FilterBuilder(Layout(table))
    filtering.add_filter(body.filter)
    condition = filtering.condition()
    if condition.matches_all:
        raise Invalid({"filter": "must select rows; to empty a table, delete it or replace its rows"})
    matched, deleted = await rows.delete_matching(ctx, table, condition, is_dry=body.dry_run)
    return RowsDeleted(matched=matched, deleted=deleted)
