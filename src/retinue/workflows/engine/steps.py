"""Execution of nodes: one job for each task, and in its transaction the pure nodes that follow (ADR 15).

A node that calls outside starts in one transaction and ends in another; after a crash it is called again.
Everything a node does inside the platform is part of the transaction that ends it, so it happens once.
"""

import asyncio

import msgspec
import structlog

from retinue.kit.context import Context
from retinue.kit.conversation_ids import conversation_ids_or_none
from retinue.kit.db.errors import DatabaseUnavailable, StorageFull
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.failpoints import failpoint
from retinue.kit.json_types import JsonObject
from retinue.workflows.definition import MAX_NODE_TIMEOUT_MS
from retinue.workflows.engine.execution import LockedExecution
from retinue.workflows.engine.lent_slots import end_slot_loan
from retinue.workflows.engine.lineage import caller_of, place_of
from retinue.workflows.engine.node_type import NODE_TYPES, NodeCompleted, NodeFailed, NodeStep, NodeSuspended
from retinue.workflows.engine.run_as import acting_as_starter, require_permission
from retinue.workflows.engine.trace import describe_outcome, join_trace, recording_node
from retinue.workflows.job_kinds import RUN_STEP, AbandonedNode, NodeTask
from retinue.workflows.models import NodeRun, NodeStatus, WorkflowExecution
from retinue.workflows.queries import find_node_run
from retinue.workflows.trail import TrailEntryKind

log = structlog.get_logger("retinue.workflows")

MAX_CALL_SECONDS = MAX_NODE_TIMEOUT_MS / 1000
_MAX_INLINE_TASKS = 50


async def run_step(ctx: Context, payload: NodeTask) -> None:
    """Run a node that does not call outside, in this transaction."""
    locked = await _lock_execution(ctx, payload)
    if locked is None:
        return
    run = await find_node_run(ctx, payload.execution_id, payload.node_id, payload.item)
    if not _is_due(run, payload):
        return
    if payload.result is not None and run is not None:
        payload.attempt = run.attempt
    step = await locked.step(payload)
    try:
        with recording_node(step):
            outcome = await _run_or_resume(ctx, step, run, payload.result)
    except Exception as error:  # noqa: BLE001  an error fails the node, not the job
        failure = _as_failure(ctx, error)
        # Undo what the node wrote before it failed.
        await ctx.rollback()
        await _finish_in_own_transaction(ctx, payload, failure)
        return
    _store_quoted_conversations(locked)
    await locked.finish_task(payload, step, run, outcome)
    await _run_inline_tasks(locked)
    await locked.store()
    failpoint("before_step_commit")


async def run_call(ctx: Context, payload: NodeTask) -> None:
    """Run a node that calls outside: record its start, call, record its end."""
    async with ctx.unit() as unit:
        locked = await _lock_execution(unit, payload)
        if locked is None:
            return
        run = await find_node_run(unit, payload.execution_id, payload.node_id, payload.item)
        if not _is_due(run, payload):
            return
        step = await locked.step(payload)
        is_changed = await end_slot_loan(unit, locked.execution, run)
        if run is None:
            run = await unit.db.insert_at_commit(_new_node_run(unit, payload, step))
            locked.append_to_trail(TrailEntryKind.started, payload)
            is_changed = True
        if is_changed:
            await locked.store()
    ctx.caller = unit.caller
    failpoint("after_call_began")
    with recording_node(step) as span:
        outcome = await _run_with_timeout(ctx, step, run, payload.result)
        describe_outcome(span, outcome)
    failpoint("before_call_ended")
    await _finish_in_own_transaction(ctx, payload, outcome)


async def abandon_node(ctx: Context, payload: AbandonedNode) -> None:
    """Cancel what the node waited for."""
    abandon = NODE_TYPES[payload.type].abandon
    if abandon is None:
        return
    execution_id, node_id, item = payload.key.split(":")
    execution = await ctx.db.get(WorkflowExecution, execution_id)
    if execution is not None:
        ctx.caller = caller_of(ctx, execution, place_of(execution_id, node_id, int(item)))
    await abandon(ctx, payload.key, payload.state)


async def resume_node(ctx: Context, key: str, result: JsonObject) -> None:
    """Enqueue the resumption of a node, in the transaction that stores the result it waited for."""
    execution_id, node_id, item = key.split(":")
    locked = await LockedExecution.lock(ctx, execution_id)
    if locked is not None:
        locked.enqueue_task(NodeTask(execution_id, node_id, int(item), result=result))


async def _lock_execution(ctx: Context, task: NodeTask) -> LockedExecution | None:
    """Lock the execution, and make the context a link in its chain of causes, whatever enqueued the task."""
    locked = await LockedExecution.lock(ctx, task.execution_id)
    if locked is not None:
        place = place_of(task.execution_id, task.node_id, task.item)
        caller = join_trace(caller_of(ctx, locked.execution, place), locked.execution)
        ctx.caller = msgspec.structs.replace(caller, correlation_id=locked.execution.correlation_id)
        ctx.quote(*(locked.execution.conversation_ids or ()))
        _store_quoted_conversations(locked)
    return locked


def _store_quoted_conversations(locked: LockedExecution) -> None:
    """Record on the execution the conversations that its nodes worked with (ADR 21)."""
    locked.execution.conversation_ids = conversation_ids_or_none(locked.ctx.caller.conversation_ids)


def _is_due(run: NodeRun | None, task: NodeTask) -> bool:
    """Return whether the task still has to run: a job may run again, and a result may arrive twice."""
    if task.result is not None:
        return run is not None and run.status is NodeStatus.waiting
    return run is None or (run.status is NodeStatus.running and run.attempt <= task.attempt)


def _new_node_run(ctx: Context, task: NodeTask, step: NodeStep) -> NodeRun:
    return NodeRun(
        execution_id=task.execution_id,
        node_id=task.node_id,
        item=task.item,
        type=step.node.type,
        status=NodeStatus.running,
        input=step.config,
        attempt=task.attempt,
        started_at=ctx.now,
    )


async def _run_with_timeout(
    ctx: Context, step: NodeStep, run: NodeRun, result: JsonObject | None
) -> NodeCompleted | NodeSuspended | NodeFailed:
    kind = NODE_TYPES[step.node.type]
    starter_ctx = ctx
    timeout_s = min((step.node.timeout_ms or kind.timeout_ms) / 1000, MAX_CALL_SECONDS)
    try:
        async with asyncio.timeout(timeout_s):
            starter_ctx = await acting_as_starter(ctx, step.execution)
            starter_ctx.caller = msgspec.structs.replace(starter_ctx.caller, awaited_by=step.key)
            return await _run_or_resume(starter_ctx, step, run, result)
    except TimeoutError:
        return NodeFailed("timeout", "The step exceeded its timeout. Increase timeout_ms of the node.")
    except Exception as error:  # noqa: BLE001  an error fails the node, not the job
        return _as_failure(ctx, error)
    finally:
        ctx.quote(*starter_ctx.caller.conversation_ids)


async def _run_or_resume(
    ctx: Context, step: NodeStep, run: NodeRun | None, result: JsonObject | None
) -> NodeCompleted | NodeSuspended:
    if step.fault is not None:
        raise step.fault
    kind = NODE_TYPES[step.node.type]
    if result is not None and run is not None:
        return await kind.resume(ctx, step, run, result)
    if not kind.is_pure:
        await require_permission(ctx, step.execution, kind.requires(step))
    return await kind.run(ctx, step)


async def _finish_in_own_transaction(
    ctx: Context, task: NodeTask, outcome: NodeCompleted | NodeSuspended | NodeFailed
) -> None:
    """Finish the task in a separate transaction, unless it was ended in the meantime."""

    async def finish(unit: Context) -> None:
        locked = await _lock_execution(unit, task)
        if locked is None:
            return
        run = await find_node_run(unit, task.execution_id, task.node_id, task.item)
        if not _is_due(run, task):
            return
        await locked.finish_task(task, await locked.step(task), run, outcome)
        await _run_inline_tasks(locked)
        await locked.store()

    await ctx.run_in_unit(finish)


async def _run_inline_tasks(locked: LockedExecution) -> None:
    """Run the pure nodes that are ready, up to a limit that keeps the transaction and its lock short."""
    for _ in range(_MAX_INLINE_TASKS):
        task = locked.next_inline_task()
        if task is None:
            return
        step = await locked.step(task)
        try:
            with recording_node(step):
                outcome: NodeCompleted | NodeSuspended | NodeFailed = await _run_or_resume(
                    locked.ctx, step, None, None
                )
        except RetinueError as error:
            outcome = _as_failure(locked.ctx, error)
        except Exception as error:
            # In its own job, so that a retry does not run the nodes before it again.
            log.warning("node_moved_to_own_job", node=task.node_id, exc_info=error)
            locked.move_to_job(task)
            continue
        await locked.finish_task(task, step, None, outcome)


def _as_failure(ctx: Context, error: Exception) -> NodeFailed:
    if isinstance(error, DatabaseUnavailable | StorageFull | VaultSealed):
        raise error
    if isinstance(error, NodeFailed):
        return error
    if not isinstance(error, RetinueError):
        if ctx.caller.attempt < RUN_STEP.max_attempts:
            raise error
        log.error("node_failed", exc_info=error)
        return NodeFailed("internal_error", "The step failed unexpectedly.", is_final=True)
    is_refusal = 400 <= error.status < 500 and error.status != 429
    return NodeFailed(error.code, _failure_message(error), is_final=is_refusal)


def _failure_message(error: RetinueError) -> str:
    """Return the message; for a validation error, the field errors, because records keep no details."""
    if error.code != "validation_error" or not error.details:
        return error.message
    return "; ".join(f"{field} {problem}" for field, problem in error.details.items())[:1000]
