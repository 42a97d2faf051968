"""Requests about rows: from query parameters and bodies to responses."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables import queries, row_deletion, rows
from retinue.tables.filters import Condition, FilterBuilder
from retinue.tables.models import DataTable
from retinue.tables.row_window import page_beside
from retinue.tables.schemas import (
    RowPage,
    RowPagination,
    RowQuery,
    RowsDelete,
    RowsDeleted,
    RowsRestore,
    RowsRestored,
)
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
    condition = parse_condition(table, query.filter, query.search, pairs)
    beside = _require_one_place(query)
    if beside is not None:
        result = await page_beside(
            ctx,
            table,
            condition,
            sort=query.sort,
            row_id=beside,
            backwards=query.before is not None,
            per_page=query.per_page,
        )
    else:
        result = await queries.page(
            ctx, table, condition, sort=query.sort, page=query.page, per_page=query.per_page
        )
    show = Layout(table).show
    data = [show(row) for row in result.items]
    if query.fields is not None:
        data = [{name: row[name] for name in fields} for row in data]
    pages = -(-result.total // result.per_page)
    return RowPage(data, RowPagination(result.page, result.per_page, result.total, pages, result.is_exact))


def _require_one_place(query: RowQuery) -> str | None:
    """Return the row beside which the page lies, if one is given."""
    if query.after is not None and query.before is not None:
        raise Invalid({"before": "cannot be combined with after"})
    beside = query.after if query.after is not None else query.before
    if beside is not None and query.page != 1:
        raise Invalid({"page": "cannot be combined with after and before"})
    return beside


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
    matched, deleted, deletion_id = await row_deletion.delete_matching(
        ctx, table, condition, is_dry=body.dry_run
    )
    return RowsDeleted(matched=matched, deleted=deleted, deletion_id=deletion_id)


async def restore_rows(ctx: Context, table: DataTable, body: RowsRestore) -> RowsRestored:
    if (body.row_ids is None) is (body.deletion_id is None):
        raise Invalid({"row_ids": "send either row_ids or deletion_id"})
    restored = await row_deletion.restore(ctx, table, body.row_ids, body.deletion_id)
    return RowsRestored(restored=len(restored), row_ids=restored)
