"""The columns of a table, by their names; rows are carried over as the API would carry them."""

from typing import Any

import msgspec

from retinue.cli.tenant_file.document import ColumnPart
from retinue.cli.tenant_file.planning import Step
from retinue.cli.tenant_file.references import Names
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tables import columns, service
from retinue.tables.loaders import fetch_table
from retinue.tables.models import Column, DataTable
from retinue.tables.schemas import ColumnCreate, ColumnUpdate, TableUpdate


async def fill(ctx: Context, names: Names, step: Step) -> None:
    table: DataTable = names.records["data_tables"][step.name]
    await service.update(ctx, table, TableUpdate(name=step.part.name, description=step.part.description))
    wanted = {part.name: part for part in step.part.columns}
    if len(wanted) < len(step.part.columns):
        raise Invalid({"columns": "two have the same name"})
    for column in table.columns:
        if column.name not in wanted:
            await columns.delete(ctx, table.id, column.id)
    for position, part in enumerate(step.part.columns):
        known = {one.name: one for one in (await fetch_table(ctx, table.id)).columns}
        await _place(ctx, names, table, part, known.get(part.name), position)


async def _place(
    ctx: Context, names: Names, table: DataTable, part: ColumnPart, known: Column | None, position: int
) -> None:
    values: dict[str, Any] = msgspec.structs.asdict(part)
    values["table_id"] = names.resolved(values.pop("table"), f"columns.{part.name}.table")
    values["position"] = position
    try:
        if known is None:
            await columns.add(ctx, table.id, msgspec.convert(values, ColumnCreate))
        else:
            await columns.change(ctx, table.id, known.id, msgspec.convert(values, ColumnUpdate))
    except msgspec.ValidationError as error:
        raise Invalid({f"columns.{part.name}": str(error)}) from None
