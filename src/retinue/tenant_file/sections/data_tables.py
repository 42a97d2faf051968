"""Data tables by slug, with their columns by name; existing rows are converted as the API would."""

from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import field_errors
from retinue.tables import columns, service
from retinue.tables.loaders import fetch_table
from retinue.tables.models import Column, DataTable
from retinue.tables.schemas import ColumnCreate, ColumnUpdate, TableCreate, TableUpdate
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.parts import ColumnPart, TablePart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, fill_part, load_all, own_slug


async def _export(_ctx: Context, names: ReferenceIndex, table: DataTable) -> TablePart:
    exported = [
        fill_part(
            ColumnPart, column, table=names.to_references(column.table_id), options=list(column.options)
        )
        for column in table.columns
    ]
    return TablePart(name=table.name, description=table.description, columns=exported)


async def _create(ctx: Context, _names: ReferenceIndex, change: PlannedChange) -> DataTable:
    part = change.part
    fields = {"name": part.name, "slug": change.name, "description": part.description}
    return await service.create(ctx, convert_values(TableCreate, fields))


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, table: DataTable) -> None:
    part = change.part
    fields = {"name": part.name, "description": part.description}
    await service.update(ctx, table, convert_values(TableUpdate, fields))
    wanted = {column.name: column for column in part.columns}
    if len(wanted) < len(part.columns):
        raise Invalid({"columns": "must have different names"})
    for column in table.columns:
        if column.name not in wanted:
            await columns.delete(ctx, table.id, column.id)
    for position, column_part in enumerate(part.columns):
        existing = {column.name: column for column in (await fetch_table(ctx, table.id)).columns}
        await _apply_column(ctx, names, table, column_part, existing.get(column_part.name), position)


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


SECTION = FileSection(
    name="data_tables",
    write_key="data_tables:write",
    load=load_all(DataTable),
    natural_name=own_slug,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    is_filled_later=True,
)
