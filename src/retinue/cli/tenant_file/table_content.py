"""Applies a table's columns by name; existing rows are converted as the API would."""

from typing import Any

import msgspec

from retinue.cli.tenant_file.document import ColumnPart
from retinue.cli.tenant_file.planner import PlannedChange
from retinue.cli.tenant_file.references import ReferenceIndex
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import field_errors
from retinue.tables import columns, service
from retinue.tables.loaders import fetch_table
from retinue.tables.models import Column, DataTable
from retinue.tables.schemas import ColumnCreate, ColumnUpdate, TableUpdate


async def apply_content(ctx: Context, names: ReferenceIndex, step: PlannedChange) -> None:
    table: DataTable = names.records["data_tables"][step.name]
    await service.update(ctx, table, TableUpdate(name=step.part.name, description=step.part.description))
    wanted = {part.name: part for part in step.part.columns}
    if len(wanted) < len(step.part.columns):
        raise Invalid({"columns": "must have different names"})
    for column in table.columns:
        if column.name not in wanted:
            await columns.delete(ctx, table.id, column.id)
    for position, part in enumerate(step.part.columns):
        existing = {column.name: column for column in (await fetch_table(ctx, table.id)).columns}
        await _apply_column(ctx, names, table, part, existing.get(part.name), position)


async def _apply_column(
    ctx: Context,
    names: ReferenceIndex,
    table: DataTable,
    part: ColumnPart,
    existing: Column | None,
    position: int,
) -> None:
    values: JsonObject = msgspec.structs.asdict(part)
    values["table_id"] = names.to_ids(values.pop("table"), f"columns.{part.name}.table")
    values["position"] = position
    shape = ColumnCreate if existing is None else ColumnUpdate
    try:
        body: Any = msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        errors = field_errors(error, values, shape)
        raise Invalid({f"columns.{part.name}.{name}": problem for name, problem in errors.items()}) from None
    if existing is None:
        await columns.add(ctx, table.id, body)
    else:
        await columns.change(ctx, table.id, existing.id, body)
