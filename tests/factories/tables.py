"""Data tables with a row and an import, made without a request."""

from typing import NamedTuple

from retinue.kit.context import Context
from retinue.tables import rows, service
from retinue.tables.models import ColumnType, ImportMode, ImportStatus, TableImport
from retinue.tables.schemas import ColumnCreate, TableCreate


class SomeTable(NamedTuple):
    """Ids of a table, of its first column, of a row and of an import that waits."""

    table_id: str
    column_id: str
    row_id: str
    import_id: str


async def some_table(ctx: Context, user_id: str, name: str = "Table", *, is_busy: bool = False) -> SomeTable:
    columns = [
        ColumnCreate(name="title", type=ColumnType.text),
        ColumnCreate(name="size", type=ColumnType.integer, indexed=True),
    ]
    table = await service.create(ctx, TableCreate(name=name, columns=columns))
    (row,) = await rows.create(ctx, table, [{"title": name, "size": 1}])
    run = await ctx.db.insert(
        TableImport(
            table_id=table.id,
            file_id="file_gone",
            filename=f"{name}.csv",
            format="csv",
            mode=ImportMode.append,
            match=[],
            row_key=table.row_key,
            status=ImportStatus.running if is_busy else ImportStatus.completed,
            errors=[],
            created_by=user_id,
        )
    )
    return SomeTable(table.id, table.columns[0].id, row.id, run.id)
