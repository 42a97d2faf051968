from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.tables import columns
from retinue.tables.errors import CannotConvert, ColumnNameTaken, ColumnNotFound, TableBusy, ValueTaken
from retinue.tables.loaders import TableById
from retinue.tables.models import Column, DataTable
from retinue.tables.schemas import ColumnChangeQuery, ColumnCreate, ColumnOut, ColumnUpdate

routes = Routes("/api/v1/data-tables/{table_id}/columns", tag="data tables", wrap=True)


def _render_column(changed: tuple[DataTable, Column]) -> ColumnOut:
    table, column = changed
    return ColumnOut.at(table.columns.index(column), column)


@routes.post("", requires="data_tables:write", status=201, errors=(ColumnNameTaken, TableBusy))
async def add_table_column(ctx: Context, table: TableById, body: ColumnCreate) -> ColumnOut:
    """Add a column to a data table.

    Existing rows get its default value. While an import runs: 409 `import_running`.
    """
    return _render_column(await columns.add(ctx, table.id, body))


@routes.patch(
    "/{column_id}",
    requires="data_tables:write",
    calls_out=True,
    errors=(ColumnNotFound, ColumnNameTaken, CannotConvert, ValueTaken, TableBusy),
)
async def update_table_column(
    ctx: Context, table: TableById, column_id: str, body: ColumnUpdate, query: ColumnChangeQuery
) -> ColumnOut:
    """Rename, move, convert or restrict a column.

    Existing values are converted in all rows or in none: if some cannot be converted, the response is 409
    `cannot_convert` with their number and examples. With `dry_run`, the answer is the same, but nothing
    changes.
    """
    if query.dry_run:
        return _render_column(await columns.rehearse_change(ctx, table.id, column_id, body))
    return _render_column(await columns.change(ctx, table.id, column_id, body))


@routes.delete("/{column_id}", requires="data_tables:write", status=204, errors=(ColumnNotFound, TableBusy))
async def delete_table_column(ctx: Context, table: TableById, column_id: str) -> None:
    """Delete a column and its value in every row."""
    await columns.delete(ctx, table.id, column_id)
