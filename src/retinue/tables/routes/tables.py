from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.tables import service
from retinue.tables.errors import ColumnNameTaken, SlugTaken, TableInUse
from retinue.tables.loaders import TableById
from retinue.tables.queries import TABLES
from retinue.tables.schemas import TableCreate, TableList, TableOut, TableUpdate

routes = Routes("/api/v1/data-tables", tag="data tables")


@routes.get("", requires="data_tables:read")
async def list_data_tables(ctx: Context, query: TableList) -> Page[TableOut]:
    return (await TABLES.page(ctx.db, query)).shown(TableOut.shown)


@routes.post("", requires="data_tables:write", status=201, wrap=True, errors=(SlugTaken, ColumnNameTaken))
async def create_data_table(ctx: Context, body: TableCreate) -> TableOut:
    return TableOut.shown(await service.create(ctx, body))


@routes.get("/{table_id}", requires="data_tables:read", wrap=True)
async def get_data_table(ctx: Context, table: TableById) -> TableOut:  # noqa: ARG001  loaded by its id
    return TableOut.shown(table)


@routes.put("/{table_id}", requires="data_tables:write", wrap=True, errors=(SlugTaken,))
async def update_data_table(ctx: Context, table: TableById, body: TableUpdate) -> TableOut:
    return TableOut.shown(await service.update(ctx, table, body))


@routes.delete("/{table_id}", requires="data_tables:write", status=204, errors=(TableInUse,))
async def delete_data_table(ctx: Context, table: TableById) -> None:
    """With all its rows; a table that something else uses stays."""
    await service.delete(ctx, table)
