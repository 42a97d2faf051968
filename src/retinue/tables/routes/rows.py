from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.http.preconditions import expected_tags
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.kit.json_types import JsonObject
from retinue.tables import aggregates, row_deletion, row_requests, rows, service
from retinue.tables.errors import (
    ColumnsChanged,
    DeletedRowsNotFound,
    QueryTooExpensive,
    RowNotFound,
    ValueTaken,
)
from retinue.tables.filters import WHERE_NAME
from retinue.tables.loaders import TableById, TableToWrite
from retinue.tables.models import DataTable
from retinue.tables.schemas import (
    AggregateQuery,
    RowPage,
    RowQuery,
    RowsDelete,
    RowsDeleted,
    RowsRestore,
    RowsRestored,
    RowsUpdate,
    Upsert,
    Upserted,
)
from retinue.tables.storage import Layout, StoredRow

routes = Routes("/api/v1/data-tables/{table_id}", tag="data tables", wrap=True)

# 1000 rows of 100 columns, with some room.
MAX_BODY_KEYS = 110_000


def _expected(request: Request) -> set[Instant] | None:
    """Return the `updated_at` values in `If-Match`, with or without quotes."""
    tags = expected_tags(request)
    return None if tags is None else {tag.removeprefix("W/").strip('"') for tag in tags}


def _tagged(table: DataTable, row: StoredRow) -> Reply[JsonObject]:
    return Reply(Layout(table).show(row), headers=(("ETag", rows.etag_of(row)),))


@routes.get(
    "/rows",
    requires="data_tables:read",
    wrap=False,
    query_names=WHERE_NAME,
    errors=(QueryTooExpensive, RowNotFound),
)
async def list_table_rows(ctx: Context, table: TableById, query: RowQuery, request: Request) -> RowPage:
    """List the rows of a data table, newest first by default and at most 1000 per page.

    Narrow them with `filter`, `search` or `where[column]=value`. On large tables, a query that takes too long
    answers 422 `query_too_expensive`; filter by indexed columns. With `after` or `before`, the page lies
    beside that row in the given order, and rows that are added or deleted elsewhere do not move it.
    """
    return await row_requests.page(ctx, table, query, request.query_pairs())


@routes.post(
    "/rows",
    requires="data_tables:write",
    status=201,
    max_keys=MAX_BODY_KEYS,
    errors=(ValueTaken,),
    handles_etag_itself=True,
)
async def create_table_rows(
    ctx: Context, table: TableToWrite, body: JsonObject
) -> Reply[JsonObject] | list[JsonObject]:
    """Create one row, or up to 1000 rows given as `rows`.

    Either all are created or none. Keys are column names; unknown ones are refused with 422. Omitted columns
    get their default.
    """
    created = await row_requests.create_rows(ctx, table, body)
    return [Layout(table).show(row) for row in created] if "rows" in body else _tagged(table, created[0])


@routes.patch("/rows", requires="data_tables:write", max_keys=MAX_BODY_KEYS, errors=(RowNotFound, ValueTaken))
async def update_table_rows(ctx: Context, table: TableToWrite, body: RowsUpdate) -> list[JsonObject]:
    """Change the given columns of up to 100 rows, each named by its `id`.

    Either all are changed or none; errors are named like `rows.3.age`. Null removes a value.
    """
    show = Layout(table).show
    return [show(row) for row in await rows.update_many(ctx, table, body.rows)]


@routes.post("/rows/upsert", requires="data_tables:write", max_keys=MAX_BODY_KEYS, errors=(ValueTaken,))
async def upsert_table_rows(ctx: Context, table: TableById, body: Upsert) -> list[Upserted]:
    """Create rows, or update those with the same values in the `match` columns.

    Either all rows are written or none. The response has one entry per given row, in the same order.
    """
    return await service.upsert(ctx, table, body)


@routes.post(
    "/rows/delete",
    requires="data_tables:write",
    cost="delete",
    idempotent=False,
    errors=(QueryTooExpensive,),
)
async def delete_table_rows(ctx: Context, table: TableToWrite, body: RowsDelete) -> RowsDeleted:
    """Delete the rows that match a filter, at most 5000 per request.

    If `deleted` is less than `matched`, repeat the request. `deletion_id` puts the rows back.
    """
    return await row_requests.delete_rows(ctx, table, body)


@routes.post(
    "/rows/restore",
    requires="data_tables:write",
    errors=(DeletedRowsNotFound, ColumnsChanged, ValueTaken),
)
async def restore_table_rows(ctx: Context, table: TableToWrite, body: RowsRestore) -> RowsRestored:
    """Put rows back that were deleted in the last ten minutes, with their ids and values.

    Either all are put back or none. If another row has a value of a unique column by now: 409 `value_taken`.
    """
    return await row_requests.restore_rows(ctx, table, body)


@routes.get("/rows/{row_id}", requires="data_tables:read", errors=(RowNotFound,), handles_etag_itself=True)
async def get_table_row(ctx: Context, table: TableById, row_id: str) -> Reply[JsonObject]:
    """Return one row. Its `ETag` can be sent as `If-Match` with a change."""
    return _tagged(table, await rows.fetch(ctx, table, row_id))


@routes.put(
    "/rows/{row_id}", requires="data_tables:write", errors=(RowNotFound, ValueTaken), handles_etag_itself=True
)
async def replace_table_row(
    ctx: Context, table: TableToWrite, row_id: str, body: JsonObject, request: Request
) -> Reply[JsonObject]:
    """Replace all values of a row.

    Omitted columns get their default. `If-Match` takes the `ETag`, or the value of `updated_at`.
    """
    return _tagged(table, await rows.replace(ctx, table, row_id, body, _expected(request)))


@routes.patch(
    "/rows/{row_id}", requires="data_tables:write", errors=(RowNotFound, ValueTaken), handles_etag_itself=True
)
async def update_table_row(
    ctx: Context, table: TableToWrite, row_id: str, body: JsonObject, request: Request
) -> Reply[JsonObject]:
    """Change the given columns of a row; the others stay unchanged.

    Null removes a value. `If-Match` takes the `ETag`, or the value of `updated_at`.
    """
    return _tagged(table, await rows.update(ctx, table, row_id, body, _expected(request)))


@routes.delete(
    "/rows/{row_id}",
    requires="data_tables:write",
    status=204,
    errors=(RowNotFound,),
    handles_etag_itself=True,
)
async def delete_table_row(ctx: Context, table: TableToWrite, row_id: str, request: Request) -> None:
    """Delete one row; it can be restored for ten minutes. `If-Match` takes the `ETag`, or `updated_at`."""
    await row_deletion.delete(ctx, table, row_id, _expected(request))


@routes.get("/aggregate", requires="data_tables:read", query_names=WHERE_NAME, errors=(QueryTooExpensive,))
async def aggregate_table_rows(
    ctx: Context, table: TableById, query: AggregateQuery, request: Request
) -> list[JsonObject]:
    """Compute counts, sums and other figures over rows, for all rows or per group.

    Each entry has one key per metric, and `group` with the grouped columns. The largest groups come first, at
    most 1000. `filter`, `search` and `where[column]=value` narrow the rows.
    """
    condition = row_requests.parse_condition(table, query.filter, query.search, request.query_pairs())
    return await aggregates.aggregate(ctx, table, condition, query.group_by, query.metrics)
