from typing import Any

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.tables import aggregates, reading, rows, service
from retinue.tables.errors import QueryTooExpensive, RowNotFound, ValueTaken, VersionConflict
from retinue.tables.loaders import TableById, TableToWrite
from retinue.tables.schemas import (
    AggregateQuery,
    JsonObject,
    RowPage,
    RowQuery,
    RowsDelete,
    RowsDeleted,
    Upsert,
    Upserted,
)
from retinue.tables.storage import Layout

routes = Routes("/api/v1/data-tables/{table_id}", tag="data tables", wrap=True)

# A thousand rows of a hundred columns.
MOST_KEYS = 110_000


def _expected(request: Request) -> Instant | None:
    """What `If-Match` says: when the caller saw the row changed last."""
    given = request.header(b"if-match").strip().removeprefix("W/").strip('"')
    return None if given in {"", "*"} else given


@routes.get("/rows", requires="data_tables:read", wrap=False, errors=(QueryTooExpensive,))
async def list_table_rows(ctx: Context, table: TableById, query: RowQuery, request: Request) -> RowPage:
    """`where[column]=value` asks for a value, `filter` for more; at most 1000 rows on a page."""
    return await reading.page(ctx, table, query, request.query_pairs())


@routes.post("/rows", requires="data_tables:write", status=201, max_keys=MOST_KEYS, errors=(ValueTaken,))
async def create_table_rows(
    ctx: Context, table: TableToWrite, body: dict[str, Any]
) -> JsonObject | list[JsonObject]:
    """One row, or as many as a thousand as `rows`: all of them or none."""
    return await reading.created(ctx, table, body)


@routes.post("/rows/upsert", requires="data_tables:write", max_keys=MOST_KEYS, errors=(ValueTaken,))
async def upsert_table_rows(ctx: Context, table: TableById, body: Upsert) -> list[Upserted]:
    """Changes the row with the same values in the columns of `match`, or adds one."""
    return await service.upsert(ctx, table, body)


@routes.post(
    "/rows/delete",
    requires="data_tables:write",
    cost="delete",
    idempotent=False,
    errors=(QueryTooExpensive,),
)
async def delete_table_rows(ctx: Context, table: TableToWrite, body: RowsDelete) -> RowsDeleted:
    """At most 5000 at once: where `deleted` is less than `matched`, ask again."""
    return await reading.deleted(ctx, table, body)


@routes.get("/rows/{row_id}", requires="data_tables:read", errors=(RowNotFound,))
async def get_table_row(ctx: Context, table: TableById, row_id: str) -> JsonObject:
    return Layout(table).show(await rows.fetch(ctx, table, row_id))


@routes.put("/rows/{row_id}", requires="data_tables:write", errors=(RowNotFound, ValueTaken, VersionConflict))
async def replace_table_row(
    ctx: Context, table: TableToWrite, row_id: str, body: dict[str, Any], request: Request
) -> JsonObject:
    """What is not given gets its default; with `If-Match: <updated_at>` only if nobody was faster."""
    row = await rows.replace(ctx, table, row_id, body, _expected(request))
    return Layout(table).show(row)


@routes.patch(
    "/rows/{row_id}", requires="data_tables:write", errors=(RowNotFound, ValueTaken, VersionConflict)
)
async def update_table_row(
    ctx: Context, table: TableToWrite, row_id: str, body: dict[str, Any], request: Request
) -> JsonObject:
    """What is not given stays; with `If-Match: <updated_at>` only if nobody was faster."""
    return Layout(table).show(await rows.change(ctx, table, row_id, body, _expected(request)))


@routes.delete(
    "/rows/{row_id}", requires="data_tables:write", status=204, errors=(RowNotFound, VersionConflict)
)
async def delete_table_row(ctx: Context, table: TableToWrite, row_id: str, request: Request) -> None:
    await rows.delete(ctx, table, row_id, _expected(request))


@routes.get("/aggregate", requires="data_tables:read", errors=(QueryTooExpensive,))
async def aggregate_table_rows(
    ctx: Context, table: TableById, query: AggregateQuery, request: Request
) -> list[JsonObject]:
    """`metrics=count,sum:amount` of all rows, or of each group of `group_by=column`, the largest first."""
    condition = reading.condition(table, query.filter, query.search, request.query_pairs())
    return await aggregates.aggregate(ctx, table, condition, query.group_by, query.metrics)
