"""A run for a request that may come again: what a crash cut off is not done a second time.

Whoever repeats the request gets the run it began, and if that was cut off, is told so.
"""

import itertools
from functools import partial
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.http.steps import step
from retinue.kit.jobs.declare import job
from retinue.tools.calls import MAX_TIMEOUT_MS
from retinue.tools.execution import begun, check, execute, perform
from retinue.tools.models import ExecutionSource, ExecutionStatus, Tool, ToolExecution
from retinue.tools.outcomes import INTERRUPTED, Finished, fail, recalled
from retinue.tools.recording import record

_LONGEST_S = MAX_TIMEOUT_MS / 1000 + 30


class BegunExecution(msgspec.Struct):
    execution_id: str


async def execute_once(ctx: Context, tool: Tool, input: dict[str, Any]) -> Finished:
    if ctx.claim is None:
        return await execute(ctx, tool, input)
    check(tool, input)
    for attempt in itertools.count(1):
        execution = begun(ctx, tool, ExecutionSource.api)
        begun_id = await step(ctx, f"run-{attempt}", str, partial(_store, execution=execution))
        if begun_id == execution.id:
            return await _perform(ctx, tool, input, execution)
        found = await ctx.db.get(ToolExecution, begun_id)
        if found is not None:
            return await _ended(ctx, found)
    raise AssertionError("unreachable")


async def _store(unit: Context, execution: ToolExecution) -> str:
    unit.defer(end_lost_execution, BegunExecution(execution.id), delay_s=_LONGEST_S)
    return (await unit.db.insert(execution)).id


@job(queue="tools", transactional=False)
async def end_lost_execution(ctx: Context, payload: BegunExecution) -> None:
    """Of a run that a crash cut off, and that nobody asks for again."""
    found = await ctx.db.get(ToolExecution, payload.execution_id)
    if found is not None:
        await _ended(ctx, found)


async def _perform(ctx: Context, tool: Tool, input: dict[str, Any], execution: ToolExecution) -> Finished:
    try:
        return await perform(ctx, tool, input, execution, is_new=False)
    except RetinueError:
        # Refused before it was a run: nothing of it is kept, and whoever repeats the request begins another.
        async with ctx.unit() as unit:
            await unit.db.delete(execution)
        raise


async def _ended(ctx: Context, execution: ToolExecution) -> Finished:
    if execution.status is not ExecutionStatus.running:
        return recalled(execution)
    interrupted = fail(execution, INTERRUPTED)
    await record(ctx, execution, is_new=False)
    return interrupted
