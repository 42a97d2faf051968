"""Start of an execution: by a person, a form, a webhook, an event, a schedule or another execution."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.conversation_ids import conversation_ids_or_none
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import compile_schema
from retinue.usage.meters import meter
from retinue.workflows.engine import graph, lineage
from retinue.workflows.engine.admission import find_limit_error, is_at_max_concurrency
from retinue.workflows.engine.execution import LockedExecution
from retinue.workflows.engine.execution_events import emit_execution_started
from retinue.workflows.models import (
    NODE_TRY,
    NodeRun,
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
)
from retinue.workflows.queries import load_definition

DEFAULT_TIMEOUT_MS = 400 * 86_400_000
"""Longer than the longest delay, so that only executions that would never end time out."""

_workflows = Workflow.__table__
_COUNT_EXECUTION = Statement(
    sa.update(_workflows)
    .where(_workflows.c.id == sa.bindparam("workflow_id"))
    .values(execution_count=_workflows.c.execution_count + 1)
)


class PriorProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The results that a retry keeps: nodes that do not run again, and the state of the edges."""

    runs: list[NodeRun]
    advance: graph.Advance
    output: Any = None


class StartRequest(msgspec.Struct, frozen=True, kw_only=True):
    version: WorkflowVersion
    input: Any
    trigger: str
    trigger_id: str = ""
    trigger_data: JsonObject = {}
    run_as: str
    waiter: ContinuationRef | None = None
    retry_of: str | None = None
    prior: PriorProgress | None = None
    depth: int = 0
    is_awaited: bool = False
    """Whether the node at work waits for it, so that its cost is part of that node's."""
    conversation_ids: Sequence[str] | None = None
    """Conversations it quotes, besides those of the context that starts it."""
    may_queue: bool = True
    """Whether it is queued when a limit of the plan is reached; otherwise the limit's error is raised."""


async def start_execution(ctx: Context, request: StartRequest) -> WorkflowExecution:
    """Start or queue an execution in the caller's transaction."""
    version = request.version
    if version.input_schema is not None:
        problems = compile_schema(version.input_schema, "input_schema").errors(request.input, "input")
        if problems:
            raise Invalid(problems)
    await ctx.unit_of_work.begin()
    # Before admission locks the tenant: every start takes its locks in this order.
    root_id = await lineage.count_descendant(ctx, depth=request.depth)
    limit_error = await find_limit_error(ctx)
    if limit_error is not None and not request.may_queue:
        raise limit_error
    execution = _new_execution(ctx, request, root_id)
    locked = LockedExecution(ctx, execution, await load_definition(ctx, version.id))
    is_pending = limit_error is not None or await is_at_max_concurrency(ctx, version)
    if is_pending:
        execution.is_pending = True
    elif request.prior is None:
        await _begin_nodes(locked, graph.initial_advance(locked.definition))
    else:
        execution.output = request.prior.output
        await _begin_nodes(locked, request.prior.advance)
    await ctx.db.insert(execution)
    if request.prior is not None:
        await _copy_node_runs(ctx, execution, request.prior.runs)
    locked.notify_watchers()
    if request.trigger != NODE_TRY:
        ctx.db.execute_at_commit(_COUNT_EXECUTION, workflow_id=version.workflow_id)
    meter(ctx, {"workflow_executions": 1}, user_id="")
    return execution


def _new_execution(ctx: Context, request: StartRequest, root_id: str | None) -> WorkflowExecution:
    version = request.version
    timeout_ms = version.settings.get("timeout_ms") or DEFAULT_TIMEOUT_MS
    return WorkflowExecution(
        id=new_id(WorkflowExecution.__prefix__),
        created_at=ctx.now,
        workflow_id=version.workflow_id,
        version_id=version.id,
        version=version.version,
        is_due=True,
        trigger=request.trigger,
        trigger_id=request.trigger_id,
        trigger_data=request.trigger_data,
        input=request.input,
        # A retry that is queued continues from here when it starts.
        progress=request.prior.advance.progress if request.prior is not None else "",
        run_as=request.run_as,
        correlation_id=ctx.caller.correlation_id,
        trace_parent=ctx.trace_parent,
        hops=ctx.caller.hops,
        depth=request.depth,
        root_id=root_id,
        awaited_by=_awaiting_nodes(ctx) if request.is_awaited else "",
        retry_of=request.retry_of,
        waiter=request.waiter,
        deadline_at=ctx.clock.time() + timeout_ms / 1000,
        conversation_ids=conversation_ids_or_none(ctx.caller.conversation_ids, request.conversation_ids),
    )


def _awaiting_nodes(ctx: Context) -> str:
    found = lineage.Lineage.of(ctx)
    return found.nodes if found is not None else ""


async def _copy_node_runs(ctx: Context, execution: WorkflowExecution, runs: list[NodeRun]) -> None:
    await ctx.db.insert_many([msgspec.structs.replace(run, id="", execution_id=execution.id) for run in runs])


async def start_queued_execution(ctx: Context, execution: WorkflowExecution) -> None:
    """Start a queued execution whose row is locked."""
    locked = LockedExecution(ctx, execution, await load_definition(ctx, execution.version_id))
    advance = graph.initial_advance(locked.definition)
    if execution.retry_of is not None:
        prior = {run.node_id for run in await ctx.db.all(NodeRun, execution_id=execution.id)}
        advance = graph.retry_advance(
            locked.definition, execution.progress, locked.definition.nodes.keys() - prior
        )
    await _begin_nodes(locked, advance)
    # Written at once, because this transaction counts the slots in use for the next execution.
    await ctx.db.update(execution, is_running=execution.is_running, is_pending=False)
    await locked.store()


async def _begin_nodes(locked: LockedExecution, advance: graph.Advance) -> None:
    emit_execution_started(locked.ctx, locked.execution)
    locked.begin(advance)
    for node_id in advance.skipped:
        await locked.skip(node_id)
    if not advance.ready:
        await locked.finish(RunStatus.completed)
