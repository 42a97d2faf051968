"""Asynchronous runs: accepted now, run once by a worker, polled by id."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Forbidden, Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools.errors import ExecutionFailed
from retinue.tools.job_kinds import RUN_ACCEPTED_EXECUTION, AcceptedExecution
from retinue.tools.models import ExecutionSource, ExecutionStatus, Tool, ToolExecution
from retinue.tools.run.execute import new_execution, require_runnable, run_and_record
from retinue.tools.run.outcome import INTERRUPTED, fail_execution
from retinue.tools.run.records import record_execution
from retinue.users.acting_as import acting_as
from retinue.users.errors import RequesterInactive

_executions = ToolExecution.__table__
_CLAIM_PENDING = Statement(
    sa.update(_executions)
    .where(
        _executions.c.id == sa.bindparam("execution_id"),
        _executions.c.status == ExecutionStatus.pending.value,
    )
    .values(status=ExecutionStatus.running.value, executed_at=sa.bindparam("now"))
)


async def enqueue_execution(ctx: Context, tool: Tool, input: JsonObject) -> ToolExecution:
    """Validate the input and enqueue the run; the record has no input until it is redacted."""
    require_runnable(tool, input)
    execution = new_execution(ctx, tool, ExecutionSource.api)
    execution.status = ExecutionStatus.pending
    await ctx.db.insert(execution)
    ctx.defer(RUN_ACCEPTED_EXECUTION, AcceptedExecution(execution.id, input))
    return execution


async def run_accepted_execution(ctx: Context, payload: AcceptedExecution) -> None:
    """Run the execution once; one that a crash interrupted fails instead of running again."""
    async with ctx.unit() as unit:
        is_claimed = await unit.db.execute(_CLAIM_PENDING, execution_id=payload.execution_id, now=unit.now)
        execution = await unit.db.get(ToolExecution, payload.execution_id)
        tool = await unit.db.get(Tool, execution.tool_id) if execution else None
    if execution is None or tool is None or execution.status is not ExecutionStatus.running:
        return
    if not is_claimed:
        fail_execution(execution, INTERRUPTED)
        await record_execution(ctx, execution, is_new=False)
        return
    try:
        caller = await acting_as(ctx, execution.user_id, requires="tools:execute")
        await run_and_record(caller, tool, payload.input, execution, is_new=False)
    except (RequesterInactive, Forbidden) as refused:
        fail_execution(execution, ExecutionFailed(refused.code, refused.message))
        await record_execution(ctx, execution, is_new=False)
    except Invalid as invalid:
        # The caller already has its response, so the problem is recorded with the run.
        fail_execution(
            execution, ExecutionFailed("runtime_error", "The input is not valid.", details=invalid.details)
        )
        await record_execution(ctx, execution, is_new=False)
