from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.tables import service
from retinue.tables.errors import ColumnNameTaken, TableInUse, TableSlugTaken
from retinue.tables.loaders import TableById
from retinue.tables.queries import TABLES
from retinue.tables.schemas import TableCreate, TableList, TableOut, TableUpdate

routes = Routes("/api/v1/data-tables", tag="data tables")


@routes.get("", requires="data_tables:read")
async def list_data_tables(ctx: Context, query: TableList) -> Page[TableOut]:
    """List the tenant's data tables with their columns, newest first unless `sort` says otherwise."""
    return (await TABLES.page(ctx.db, query)).to_page(TableOut.from_record)


@routes.post(
    "", requires="data_tables:write", status=201, wrap=True, errors=(TableSlugTaken, ColumnNameTaken)
)
async def create_data_table(ctx: Context, body: TableCreate) -> TableOut:
    """Create a data table, with its first columns if given."""
    return TableOut.from_record(await service.create(ctx, body))


@routes.get("/{table_id}", requires="data_tables:read", wrap=True)
async def get_data_table(ctx: Context, table: TableById) -> TableOut:  # noqa: ARG001  loaded by its id
    """Return a data table with its columns and the number of its rows."""
    return TableOut.from_record(table)


@routes.get("/{table_id}/usage", requires="data_tables:read")
async def get_data_table_usage(ctx: Context, table: TableById) -> dict[str, list[Referrer]]:
    """Return what uses a data table, by kind: as long as there is anything, the table cannot be deleted."""
    return await service.find_users(ctx, table)


@routes.put("/{table_id}", requires="data_tables:write", wrap=True, errors=(TableSlugTaken,))
async def update_data_table(ctx: Context, table: TableById, body: TableUpdate) -> TableOut:
    """Change the name, slug or description of a data table. Columns are changed by their own operations."""
    return TableOut.from_record(await service.update(ctx, table, body))


@routes.delete("/{table_id}", requires="data_tables:write", status=204, errors=(TableInUse,))
async def delete_data_table(ctx: Context, table: TableById) -> None:
    """Delete a data table with all its rows and imports.

    If a form, another table or anything else refers to it: 409 `table_in_use`, with the users in `details`.
    """
    await service.delete(ctx, table)
