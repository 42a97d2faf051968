"""Many operations on workflows in one request."""

from retinue.kit.context import Context
from retinue.kit.http import batch
from retinue.kit.http.batch import Batch, BatchAnswer, BatchOperation, OperationResult
from retinue.workflows import service
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import WorkflowStatus
from retinue.workflows.schemas import WorkflowCreate, WorkflowOut, WorkflowUpdate, render_workflow

_STATES = {"publish": WorkflowStatus.published, "archive": WorkflowStatus.archived}


async def run_batch(ctx: Context, body: Batch) -> BatchAnswer[WorkflowOut]:
    return await batch.run_batch(ctx, body, _apply_operation)


async def _apply_operation(ctx: Context, operation: BatchOperation) -> OperationResult[WorkflowOut]:
    ctx.principal.require("workflows:write")
    if operation.op == "create":
        created = await service.create(ctx, batch.parse_operation_data(ctx, operation, WorkflowCreate))
        return OperationResult(created.id, render_workflow(ctx, created))
    workflow = await fetch_workflow(ctx, batch.require_id(operation))
    if operation.op == "delete":
        await service.delete(ctx, workflow)
        return OperationResult(workflow.id, None)
    if operation.op == "update":
        body = batch.parse_operation_data(ctx, operation, WorkflowUpdate)
        changed = await service.update(ctx, workflow, body)
    else:
        changed = await service.set_status(ctx, workflow, _STATES[operation.op])
    return OperationResult(changed.id, render_workflow(ctx, changed))
