"""Runs of requests with an idempotency key: a run that a crash interrupted is not repeated.

A repeated request returns the run that the first one started, failed if it was interrupted.
"""

import itertools
from functools import partial

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.http.idempotent_steps import idempotent_step
from retinue.kit.json_types import JsonObject
from retinue.tools.executors.call import MAX_TIMEOUT_MS
from retinue.tools.job_kinds import FAIL_LOST_EXECUTION, StartedExecution
from retinue.tools.models import ExecutionSource, ExecutionStatus, Tool, ToolExecution
from retinue.tools.run.execute import execute, new_execution, require_runnable, run_and_record
from retinue.tools.run.outcome import INTERRUPTED, ToolRunResult, fail_execution, result_from_record
from retinue.tools.run.records import record_execution

_MAX_RUN_SECONDS = MAX_TIMEOUT_MS / 1000 + 30


async def execute_once(ctx: Context, tool: Tool, input: JsonObject) -> ToolRunResult:
    if ctx.claim is None:
        return await execute(ctx, tool, input)
    require_runnable(tool, input)
    for attempt in itertools.count(1):
        execution = new_execution(ctx, tool, ExecutionSource.api)
        started_id = await idempotent_step(ctx, f"run-{attempt}", str, partial(_store, execution=execution))
        if started_id == execution.id:
            return await _run_stored(ctx, tool, input, execution)
        started = await ctx.db.get(ToolExecution, started_id)
        if started is not None:
            return await _finished_result(ctx, started)
    raise AssertionError("unreachable")


async def _store(unit: Context, execution: ToolExecution) -> str:
    unit.defer(FAIL_LOST_EXECUTION, StartedExecution(execution.id), delay_s=_MAX_RUN_SECONDS)
    return (await unit.db.insert(execution)).id


async def fail_lost_execution(ctx: Context, payload: StartedExecution) -> None:
    """Fail a run that a crash interrupted and that no repeated request has ended."""
    found = await ctx.db.get(ToolExecution, payload.execution_id)
    if found is not None:
        await _finished_result(ctx, found)


async def _run_stored(ctx: Context, tool: Tool, input: JsonObject, execution: ToolExecution) -> ToolRunResult:
    try:
        return await run_and_record(ctx, tool, input, execution, is_new=False)
    except RetinueError:
        # Refused before it ran: delete it, so that a repeated request starts a new run.
        async with ctx.unit() as unit:
            await unit.db.delete(execution)
        raise


async def _finished_result(ctx: Context, execution: ToolExecution) -> ToolRunResult:
    if execution.status is not ExecutionStatus.running:
        return result_from_record(execution)
    interrupted = fail_execution(execution, INTERRUPTED)
    await record_execution(ctx, execution, is_new=False)
    return interrupted
