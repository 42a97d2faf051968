"""Starting a run: by a person, a form, a received webhook, an event, a schedule, or another run."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.continuations import Waiting
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.kit.json_schemas import compile_schema
from retinue.usage.metering import meter
from retinue.workflows import progress
from retinue.workflows.errors import TooDeep
from retinue.workflows.events import WorkflowExecutionStarted
from retinue.workflows.held import HeldRun
from retinue.workflows.models import NodeRun, RunStatus, Workflow, WorkflowExecution, WorkflowVersion
from retinue.workflows.queries import definition_of
from retinue.workflows.room import is_workflow_full, refusal
from retinue.workflows.running import RUNNING

MOST_DEPTH = 8
DEFAULT_TIMEOUT_MS = 400 * 86_400_000
"""Longer than the longest delay, so that only what nobody will ever end is given up."""

_workflows = Workflow.__table__
_COUNT: Statement[Any] = Statement(
    sa.update(_workflows)
    .where(_workflows.c.id == sa.bindparam("workflow_id"))
    .values(execution_count=_workflows.c.execution_count + 1)
)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What an earlier run did already: its nodes that are not run again, and the state of the edges."""

    runs: list[NodeRun]
    advance: progress.Advance
    output: Any = None


class Start(msgspec.Struct, frozen=True, kw_only=True):
    version: WorkflowVersion
    input: Any
    trigger: str
    trigger_id: str = ""
    trigger_data: dict[str, Any] = {}
    run_as: str
    waiter: Waiting | None = None
    retry_of: str | None = None
    done: Done | None = None
    depth: int = 0
    may_wait: bool = True
    """Whether it may be queued when the plan's places are taken; a person who asks is told instead."""


async def start(ctx: Context, wanted: Start) -> WorkflowExecution:
    """In the transaction of whatever started it."""
    version = wanted.version
    if version.input_schema is not None:
        problems = compile_schema(version.input_schema, "input_schema").errors(wanted.input, "input")
        if problems:
            raise Invalid(problems)
    if wanted.depth > MOST_DEPTH:
        raise TooDeep
    await ctx.unit_of_work.begin()
    refused = await refusal(ctx)
    if refused is not None and not wanted.may_wait:
        raise refused
    execution = _new(ctx, wanted)
    held = HeldRun(ctx, execution, await definition_of(ctx, version.id), RUNNING)
    is_pending = refused is not None or await is_workflow_full(ctx, version)
    if is_pending:
        execution.is_pending = True
    elif wanted.done is None:
        await _begin(held, progress.begin(held.definition))
    else:
        execution.output = wanted.done.output
        await _begin(held, wanted.done.advance)
    await ctx.db.insert(execution)
    if wanted.done is not None:
        await _copy(ctx, execution, wanted.done.runs)
    held.watched()
    ctx.db.execute_at_commit(_COUNT, workflow_id=version.workflow_id)
    meter(ctx, {"workflow_executions": 1}, user_id="")
    return execution


def _new(ctx: Context, wanted: Start) -> WorkflowExecution:
    version = wanted.version
    timeout_ms = version.settings.get("timeout_ms") or DEFAULT_TIMEOUT_MS
    return WorkflowExecution(
        id=new_id(WorkflowExecution.__prefix__),
        created_at=ctx.now,
        workflow_id=version.workflow_id,
        version_id=version.id,
        version=version.version,
        is_due=True,
        trigger=wanted.trigger,
        trigger_id=wanted.trigger_id,
        trigger_data=wanted.trigger_data,
        input=wanted.input,
        # Of a run that has to wait first, so that it knows then where it goes on.
        progress=wanted.done.advance.progress if wanted.done is not None else "",
        run_as=wanted.run_as,
        correlation_id=ctx.caller.correlation_id,
        hops=ctx.caller.hops,
        depth=wanted.depth,
        retry_of=wanted.retry_of,
        waiter=wanted.waiter,
        deadline_at=ctx.clock.time() + timeout_ms / 1000,
    )


async def _copy(ctx: Context, execution: WorkflowExecution, runs: list[NodeRun]) -> None:
    await ctx.db.insert_many([msgspec.structs.replace(run, id="", execution_id=execution.id) for run in runs])


async def begin(ctx: Context, execution: WorkflowExecution) -> None:
    """A run that had to wait first, and whose row is locked."""
    held = HeldRun(ctx, execution, await definition_of(ctx, execution.version_id), RUNNING)
    advance = progress.begin(held.definition)
    if execution.retry_of is not None:
        done = {run.node_id for run in await ctx.db.all(NodeRun, execution_id=execution.id)}
        advance = progress.begin_again(
            held.definition, execution.progress, held.definition.nodes.keys() - done
        )
    await _begin(held, advance)
    # At once, because the places are counted for the next one in this transaction.
    await ctx.db.update(execution, is_running=execution.is_running, is_pending=False)
    await held.store()


async def _begin(held: HeldRun, advance: progress.Advance) -> None:
    execution = held.execution
    held.ctx.emit(
        WorkflowExecutionStarted(
            workflow_id=execution.workflow_id,
            execution_id=execution.id,
            trigger=execution.trigger,
            status=RunStatus.running,
        )
    )
    held.begin(advance)
    for node_id in advance.skipped:
        await held.skip(node_id)
    if not advance.ready:
        await held.end(RunStatus.completed)
