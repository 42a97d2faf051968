"""Many operations on workflows in one request."""

from retinue.kit import batch
from retinue.kit.batch import Batch, BatchAnswer, BatchOperation, Performed
from retinue.kit.context import Context
from retinue.workflows import service
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import WorkflowStatus
from retinue.workflows.schemas import WorkflowCreate, WorkflowOut, WorkflowUpdate, shown

_STATES = {"publish": WorkflowStatus.published, "archive": WorkflowStatus.archived}


async def carry_out(ctx: Context, body: Batch) -> BatchAnswer[WorkflowOut]:
    return await batch.carry_out(ctx, body, _perform)


async def _perform(ctx: Context, one: BatchOperation) -> Performed[WorkflowOut]:
    ctx.principal.require("workflows:write")
    if one.op == "create":
        made = await service.create(ctx, batch.read(one, WorkflowCreate))
        return Performed(made.id, shown(made))
    workflow = await fetch_workflow(ctx, batch.require_id(one))
    if one.op == "delete":
        await service.delete(ctx, workflow)
        return Performed(workflow.id, None)
    if one.op == "update":
        changed = await service.update(ctx, workflow, batch.read(one, WorkflowUpdate))
    else:
        changed = await service.enter(ctx, workflow, _STATES[one.op])
    return Performed(changed.id, shown(changed))
