"""Cancellation of an execution."""

from retinue.kit.context import Context
from retinue.workflows.engine.execution import LockedExecution
from retinue.workflows.models import RunStatus, WorkflowExecution

CANCELLED_ERROR = {"code": "cancelled", "message": "The execution was cancelled."}


async def cancel_execution(ctx: Context, execution_id: str) -> WorkflowExecution | None:
    """Cancel the execution and return it; return None if it had ended before."""
    locked = await LockedExecution.lock(ctx, execution_id)
    if locked is None:
        return None
    await locked.finish(RunStatus.cancelled, error=CANCELLED_ERROR)
    await locked.store()
    return locked.execution
