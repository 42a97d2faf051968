"""Access to the values of executions that quote conversations (ADR 21)."""

from collections.abc import Sequence

from retinue.kit.context import Context
from retinue.kit.context.conversation_access import load_content_reader
from retinue.workflows.models import NODE_TRY, WorkflowExecution


async def readable_execution_ids(ctx: Context, executions: Sequence[WorkflowExecution]) -> set[str]:
    """Return the ids of the executions whose values the caller may read."""
    reader = await load_content_reader(ctx, (execution.conversation_ids for execution in executions))
    return {
        execution.id
        for execution in executions
        if _is_own(ctx, execution) or reader.may_read(execution.conversation_ids)
    }


async def may_read(ctx: Context, execution: WorkflowExecution) -> bool:
    return bool(await readable_execution_ids(ctx, [execution]))


def _is_own(ctx: Context, execution: WorkflowExecution) -> bool:
    """Return whether the caller started it by hand; a retry holds values of another execution."""
    is_by_hand = execution.trigger in {"manual", NODE_TRY} and execution.retry_of is None
    return is_by_hand and execution.trigger_id == ctx.principal.id
