"""Runs that nobody waits for: accepted now, run once by a worker, looked up by their id."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.jobs.declare import job
from retinue.kit.principal import Principal
from retinue.tools.calls import MAX_TIMEOUT_MS
from retinue.tools.errors import ExecutionFailed
from retinue.tools.execution import begun, check, perform
from retinue.tools.models import ExecutionSource, ExecutionStatus, Tool, ToolExecution
from retinue.tools.outcomes import INTERRUPTED, fail
from retinue.tools.recording import record

_executions = ToolExecution.__table__
_START: Statement[Any] = Statement(
    sa.update(_executions)
    .where(
        _executions.c.id == sa.bindparam("execution_id"),
        _executions.c.status == ExecutionStatus.pending.value,
    )
    .values(status=ExecutionStatus.running.value, executed_at=sa.bindparam("now"))
)


class AcceptedExecution(msgspec.Struct):
    """The caller's role goes along: it may be what lets the run use a credential."""

    execution_id: str
    input: dict[str, Any]
    role: str


async def accept(ctx: Context, tool: Tool, input: dict[str, Any]) -> ToolExecution:
    """Check the input and have a worker run the tool; the record shows the input once it was guarded."""
    check(tool, input)
    execution = begun(ctx, tool, ExecutionSource.api)
    execution.status = ExecutionStatus.pending
    await ctx.db.insert(execution)
    ctx.defer(run_accepted_execution, AcceptedExecution(execution.id, input, ctx.principal.role))
    return execution


@job(queue="tools", timeout_s=MAX_TIMEOUT_MS / 1000 + 30, transactional=False)
async def run_accepted_execution(ctx: Context, payload: AcceptedExecution) -> None:
    """Run it unless that was begun before: what a crash cut off is not done a second time."""
    async with ctx.unit() as unit:
        is_first = await unit.db.execute(_START, execution_id=payload.execution_id, now=unit.now)
        execution = await unit.db.get(ToolExecution, payload.execution_id)
        tool = await unit.db.get(Tool, execution.tool_id) if execution else None
    if execution is None or tool is None or execution.status is not ExecutionStatus.running:
        return
    if not is_first:
        fail(execution, INTERRUPTED)
        await record(ctx, execution, is_new=False)
        return
    try:
        await perform(_as_caller(ctx, execution, payload), tool, payload.input, execution, is_new=False)
    except Invalid as invalid:
        # Nobody is left who could be told to send other input.
        fail(execution, ExecutionFailed("runtime_error", "The input is not valid.", details=invalid.details))
        await record(ctx, execution, is_new=False)


def _as_caller(ctx: Context, execution: ToolExecution, payload: AcceptedExecution) -> Context:
    principal = Principal(kind="user", id=execution.user_id or "", tenant_id=ctx.tenant_id, role=payload.role)
    return Context(ctx.instance, principal, ctx.caller, reads_freely=True)
