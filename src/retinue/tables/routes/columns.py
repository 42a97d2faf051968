from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.tables import columns
from retinue.tables.errors import CannotConvert, ColumnNameTaken, ColumnNotFound, TableBusy, ValueTaken
from retinue.tables.loaders import TableById
from retinue.tables.models import Column, DataTable
from retinue.tables.schemas import ColumnCreate, ColumnOut, ColumnUpdate

routes = Routes("/api/v1/data-tables/{table_id}/columns", tag="data tables", wrap=True)


def _shown(changed: tuple[DataTable, Column]) -> ColumnOut:
    table, column = changed
    return ColumnOut.at(table.columns.index(column), column)


@routes.post("", requires="data_tables:write", status=201, errors=(ColumnNameTaken, TableBusy))
async def add_table_column(ctx: Context, table: TableById, body: ColumnCreate) -> ColumnOut:
    """Rows that are there already get the default."""
    return _shown(await columns.add(ctx, table.id, body))


@routes.patch(
    "/{column_id}",
    requires="data_tables:write",
    errors=(ColumnNotFound, ColumnNameTaken, CannotConvert, ValueTaken, TableBusy),
)
async def update_table_column(
    ctx: Context, table: TableById, column_id: str, body: ColumnUpdate
) -> ColumnOut:
    """Renames, moves or converts it; a conversion happens for every row or not at all."""
    return _shown(await columns.change(ctx, table.id, column_id, body))


@routes.delete("/{column_id}", requires="data_tables:write", status=204, errors=(ColumnNotFound, TableBusy))
async def delete_table_column(ctx: Context, table: TableById, column_id: str) -> None:
    """With its value in every row."""
    await columns.delete(ctx, table.id, column_id)
