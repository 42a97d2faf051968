"""What a form asks, and where its answers go."""

from typing import Any

import msgspec

from retinue.cli.tenant_file.document import FormPart
from retinue.cli.tenant_file.planning import Step
from retinue.cli.tenant_file.references import Names
from retinue.forms import service
from retinue.forms.models import Form, FormStatus
from retinue.forms.schemas import FormCreate, FormUpdate
from retinue.kit.context import Context
from retinue.kit.errors import Invalid


async def make(ctx: Context, _names: Names, step: Step) -> Form:
    """With its fields, so that its first version is what the file says."""
    return await service.create(ctx, _read(FormCreate, {"name": step.name, "fields": step.part.fields}))


async def fill(ctx: Context, names: Names, step: Step) -> None:
    form: Form = names.records["forms"][step.name]
    await service.update(ctx, form, _read(FormUpdate, _values(names, step.part)))
    status = _read(FormStatus, step.part.status)
    if form.status is FormStatus.archived and status is FormStatus.published:
        await service.move(ctx, form, FormStatus.draft)
    await service.move(ctx, form, status)


def _values(names: Names, part: FormPart) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(msgspec.structs.asdict(part))
    del values["status"]
    values["workflow_id"] = names.resolved(values.pop("workflow"), "workflow")
    del values["data_table"]
    values["data_table_config"] = None
    if part.data_table is not None:
        config = msgspec.structs.asdict(part.data_table)
        config["table_id"] = names.resolved(config.pop("table"), "data_table.table")
        values["data_table_config"] = config
    for name in ("fields", "settings", "branding"):
        values[name] = names.resolved(values[name], name)
    return values


def _read(shape: type[Any], values: Any) -> Any:
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise Invalid({"": str(error)}) from None
