from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded, loaded
from retinue.tables.errors import TableNotFound
from retinue.tables.models import DataTable
from retinue.tables.queries import find_for_writing


async def fetch_table(ctx: Context, table_id: str) -> DataTable:
    found = await ctx.db.get(DataTable, table_id)
    if found is None:
        raise TableNotFound
    return found


async def fetch_for_writing(ctx: Context, table_id: str) -> DataTable:
    found = await find_for_writing(ctx, table_id)
    if found is None:
        raise TableNotFound
    return found


TableById = Annotated[DataTable, loaded(DataTable, "table_id", TableNotFound)]
TableToWrite = Annotated[DataTable, Loaded("table_id", find_for_writing, TableNotFound)]
