"""Applies a form's fields, settings and destinations."""

import msgspec

from retinue.cli.tenant_file.document import FormPart, convert_values
from retinue.cli.tenant_file.planner import PlannedChange
from retinue.cli.tenant_file.references import ReferenceIndex
from retinue.forms import service
from retinue.forms.models import Form, FormStatus
from retinue.forms.schemas import FormCreate, FormUpdate
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject


async def make(ctx: Context, _names: ReferenceIndex, step: PlannedChange) -> Form:
    """Create a form with its fields, so that its first version matches the file."""
    return await service.create(
        ctx, convert_values(FormCreate, {"name": step.name, "fields": step.part.fields})
    )


async def apply_content(ctx: Context, names: ReferenceIndex, step: PlannedChange) -> None:
    form: Form = names.records["forms"][step.name]
    await service.update(ctx, form, convert_values(FormUpdate, _values(names, step.part)))
    status = convert_values(FormStatus, step.part.status, "status")
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
