"""Workflows with their nodes and trigger."""

import msgspec

from retinue.kit.context import Context
from retinue.kit.text.header_masks import mask_config_headers
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.parts import WorkflowPart
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
from retinue.workflows import service
from retinue.workflows.models import Workflow, WorkflowStatus
from retinue.workflows.schemas import WorkflowCreate, WorkflowUpdate

_WRITE = "workflows:write"


async def _export(ctx: Context, names: ReferenceIndex, workflow: Workflow) -> WorkflowPart:
    settings = {name: value for name, value in workflow.settings.items() if value is not None}
    part: WorkflowPart = fill_part(
        WorkflowPart,
        workflow,
        name=shown_name(names, workflow),
        trigger=names.to_references(workflow.trigger),
        nodes=names.to_references(mask_config_headers(ctx.principal, workflow.nodes, _WRITE)),
        edges=names.to_references(workflow.edges),
        settings=names.to_references(settings),
        ui=names.to_references(workflow.ui),
    )
    return part


async def _create(ctx: Context, _names: ReferenceIndex, change: PlannedChange) -> Workflow:
    return await service.create(ctx, convert_values(WorkflowCreate, {"name": wanted_name(change)}))


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, workflow: Workflow) -> None:
    wanted = names.to_ids(msgspec.to_builtins(msgspec.structs.asdict(change.part)), "")
    wanted["name"] = wanted_name(change)
    status = convert_values(WorkflowStatus, wanted["status"], "status")
    if workflow.status is WorkflowStatus.archived and status is WorkflowStatus.published:
        await service.set_status(ctx, workflow, WorkflowStatus.draft)
    await service.update(ctx, workflow, convert_values(WorkflowUpdate, wanted))


SECTION = FileSection(
    name="workflows",
    write_key=_WRITE,
    load=load_all(Workflow),
    natural_name=own_name,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    is_filled_later=True,
)
