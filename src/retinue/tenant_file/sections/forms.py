"""Forms with their fields, settings and destinations."""

import msgspec

from retinue.forms import service
from retinue.forms.models import Form, FormStatus
from retinue.forms.schemas import FormCreate, FormUpdate
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.parts import FormPart, FormTablePart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import (
    FileSection,
    fill_part,
    load_all,
    own_name,
    shown_name,
    wanted_name,
)


async def _export(_ctx: Context, names: ReferenceIndex, form: Form) -> FormPart:
    config = form.data_table_config
    table = None
    if config is not None:
        table = fill_part(FormTablePart, config, table=names.to_references(config.table_id))
    part: FormPart = fill_part(
        FormPart,
        form,
        name=shown_name(names, form),
        fields=names.to_references(form.fields),
        settings=names.to_references(form.settings),
        branding=names.to_references(form.branding),
        workflow=names.to_references(form.workflow_id),
        data_table=table,
    )
    return part


async def _create(ctx: Context, _names: ReferenceIndex, change: PlannedChange) -> Form:
    """Create a form with its fields, so that its first version matches the file."""
    fields = {"name": wanted_name(change), "fields": change.part.fields}
    return await service.create(ctx, convert_values(FormCreate, fields))


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, form: Form) -> None:
    values = {**_values(names, change.part), "name": wanted_name(change)}
    await service.update(ctx, form, convert_values(FormUpdate, values))
    status = convert_values(FormStatus, change.part.status, "status")
    if form.status is FormStatus.archived and status is FormStatus.published:
        await service.change_status(ctx, form, FormStatus.draft)
    await service.change_status(ctx, form, status)


def _values(names: ReferenceIndex, part: FormPart) -> JsonObject:
    values: JsonObject = msgspec.to_builtins(msgspec.structs.asdict(part))
    del values["status"]
    values["workflow_id"] = names.to_ids(values.pop("workflow"), "workflow")
    del values["data_table"]
    values["data_table_config"] = None
    if part.data_table is not None:
        config = msgspec.structs.asdict(part.data_table)
        config["table_id"] = names.to_ids(config.pop("table"), "data_table.table")
        values["data_table_config"] = config
    for name in ("fields", "settings", "branding"):
        values[name] = names.to_ids(values[name], name)
    return values


SECTION = FileSection(
    name="forms",
    write_key="forms:write",
    load=load_all(Form),
    natural_name=own_name,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    is_filled_later=True,
)
