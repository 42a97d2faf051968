from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.routing import PathLoader, path_loader
from retinue.tables.errors import TableNotFound
from retinue.tables.models import DataTable
from retinue.tables.queries import find_for_writing


async def fetch_table(ctx: Context, table_id: str) -> DataTable:
    table = await ctx.db.get(DataTable, table_id)
    if table is None:
        raise TableNotFound
    return table


async def fetch_for_writing(ctx: Context, table_id: str) -> DataTable:
    table = await find_for_writing(ctx, table_id)
    if table is None:
        raise TableNotFound
    return table


TableById = Annotated[DataTable, path_loader(DataTable, "table_id", TableNotFound)]
TableToWrite = Annotated[DataTable, PathLoader("table_id", find_for_writing, TableNotFound)]
