"""Running nodes: one job for each turn, and in its transaction the nodes after it that only shape or decide.

A node that calls outside is begun in one transaction and ended in another; after a crash it is called again.
Whatever a node does inside the platform is part of the transaction that ends it, so that it happens once.
"""

import asyncio
from typing import Any

import msgspec
import structlog

from retinue.kit.context import Context
from retinue.kit.db.errors import DatabaseUnavailable, StorageFull
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.failpoints import failpoint
from retinue.kit.jobs.declare import Retry, job
from retinue.workflows.acting import as_starter, require_right
from retinue.workflows.definition import LONGEST_TIMEOUT_MS
from retinue.workflows.held import HeldRun
from retinue.workflows.models import NodeRun, NodeStatus
from retinue.workflows.node_types import NODE_TYPES
from retinue.workflows.nodes.kinds import Done, NodeFailed, Step, Waits
from retinue.workflows.queries import find_run
from retinue.workflows.room import make_room
from retinue.workflows.telling import tell_of_end
from retinue.workflows.turns import AbandonedNode, NodeTurn, Running

log = structlog.get_logger("retinue.workflows")

LONGEST_CALL_S = LONGEST_TIMEOUT_MS / 1000
_RETRY = Retry((0, 1, 5, 30, 120))
_MOST_WITHIN = 50


@job(queue="workflows", retry=_RETRY, at_once=50)
async def run_step(ctx: Context, payload: NodeTurn) -> None:
    """A node that stays inside: all of it in this transaction."""
    held = await _take(ctx, payload)
    if held is None:
        return
    run = await find_run(ctx, payload.execution_id, payload.node_id, payload.item)
    if not _is_due(run, payload):
        return
    if payload.result is not None and run is not None:
        payload.attempt = run.attempt
    step = await held.step(payload)
    try:
        outcome = await _run_or_resume(ctx, step, run, payload.result)
    except Exception as error:  # noqa: BLE001  what a node does wrong is the node's failure
        failure = _as_failure(ctx, error)
        # What it wrote before it failed must not stay.
        await ctx.rollback()
        await _end_apart(ctx, payload, failure)
        return
    await held.end_turn(payload, step, run, outcome)
    await _go_on_within(held)
    await held.store()
    failpoint("before_step_commit")


@job(queue="workflow_calls", retry=_RETRY, timeout_s=LONGEST_CALL_S + 60, transactional=False, at_once=100)
async def run_call(ctx: Context, payload: NodeTurn) -> None:
    """A node that calls outside: begun, called, ended."""
    async with ctx.unit() as unit:
        held = await _take(unit, payload)
        if held is None:
            return
        run = await find_run(unit, payload.execution_id, payload.node_id, payload.item)
        if not _is_due(run, payload):
            return
        step = await held.step(payload)
        if run is None:
            run = await unit.db.insert_at_commit(_begun(unit, payload, step))
            held.note("+", payload)
            await held.store()
    ctx.caller = unit.caller
    failpoint("after_call_began")
    outcome = await _call(ctx, step, run, payload.result)
    failpoint("before_call_ended")
    await _end_apart(ctx, payload, outcome)


@job(queue="workflows")
async def abandon_node(ctx: Context, payload: AbandonedNode) -> None:
    """Whom it waited for need not go on."""
    abandon = NODE_TYPES[payload.type].abandon
    if abandon is not None:
        await abandon(ctx, payload.key, payload.state)


async def resume(ctx: Context, key: str, result: dict[str, Any]) -> None:
    """Whoever a node waited for has the answer; part of the transaction that stores it."""
    execution_id, node_id, item = key.split(":")
    held = await HeldRun.take(ctx, execution_id, RUNNING)
    if held is not None:
        held.give_turn(NodeTurn(execution_id, node_id, int(item), result=result))


async def _take(ctx: Context, turn: NodeTurn) -> HeldRun | None:
    """The run, and what its nodes do belongs to its chain of causes, whoever gave them their turn."""
    held = await HeldRun.take(ctx, turn.execution_id, RUNNING)
    if held is not None:
        execution = held.execution
        hops = max(execution.hops, ctx.caller.hops)
        ctx.caller = msgspec.structs.replace(ctx.caller, correlation_id=execution.correlation_id, hops=hops)
    return held


def _is_due(run: NodeRun | None, turn: NodeTurn) -> bool:
    """Whether nobody had this turn before: a job may be run again, and an answer may come twice."""
    if turn.result is not None:
        return run is not None and run.status is NodeStatus.waiting
    return run is None or (run.status is NodeStatus.running and run.attempt <= turn.attempt)


def _begun(ctx: Context, turn: NodeTurn, step: Step) -> NodeRun:
    return NodeRun(
        execution_id=turn.execution_id,
        node_id=turn.node_id,
        item=turn.item,
        type=step.node.type,
        status=NodeStatus.running,
        input=step.config,
        attempt=turn.attempt,
        started_at=ctx.now,
    )


async def _call(
    ctx: Context, step: Step, run: NodeRun, result: dict[str, Any] | None
) -> Done | Waits | NodeFailed:
    kind = NODE_TYPES[step.node.type]
    timeout_s = min((step.node.timeout_ms or kind.timeout_ms) / 1000, LONGEST_CALL_S)
    try:
        async with asyncio.timeout(timeout_s):
            return await _run_or_resume(await as_starter(ctx, step.execution), step, run, result)
    except TimeoutError:
        return NodeFailed("timeout", "The step took too long.")
    except Exception as error:  # noqa: BLE001  what a node does wrong is the node's failure
        return _as_failure(ctx, error)


async def _run_or_resume(
    ctx: Context, step: Step, run: NodeRun | None, result: dict[str, Any] | None
) -> Done | Waits:
    if step.fault is not None:
        raise step.fault
    kind = NODE_TYPES[step.node.type]
    if result is not None and run is not None:
        return await kind.resume(ctx, step, run, result)
    if not kind.is_pure:
        await require_right(ctx, step.execution, kind.requires(step))
    return await kind.run(ctx, step)


async def _end_apart(ctx: Context, turn: NodeTurn, outcome: Done | Waits | NodeFailed) -> None:
    """In a transaction of its own; a turn that somebody else ended meanwhile is left alone."""
    async with ctx.unit() as unit:
        held = await _take(unit, turn)
        if held is None:
            return
        run = await find_run(unit, turn.execution_id, turn.node_id, turn.item)
        if not _is_due(run, turn):
            return
        await held.end_turn(turn, await held.step(turn), run, outcome)
        await _go_on_within(held)
        await held.store()


async def _go_on_within(held: HeldRun) -> None:
    """What is ready now and touches nothing but this run needs no job; not for so long that others wait."""
    for _ in range(_MOST_WITHIN):
        turn = held.next_turn()
        if turn is None:
            return
        step = await held.step(turn)
        try:
            outcome: Done | Waits | NodeFailed = await _run_or_resume(held.ctx, step, None, None)
        except RetinueError as error:
            outcome = _as_failure(held.ctx, error)
        except Exception as error:
            # The nodes before it have nothing to do with it, and must not be run again for it.
            log.warning("a node gets a job of its own", node=turn.node_id, exc_info=error)
            held.put_off(turn)
            continue
        await held.end_turn(turn, step, None, outcome)


def _as_failure(ctx: Context, error: Exception) -> NodeFailed:
    if isinstance(error, DatabaseUnavailable | StorageFull | VaultSealed):
        raise error
    if isinstance(error, NodeFailed):
        return error
    if not isinstance(error, RetinueError):
        if ctx.caller.attempt < len(_RETRY.delays):
            raise error
        log.error("a node failed unexpectedly", exc_info=error)
        return NodeFailed("internal_error", "The step failed unexpectedly.", is_final=True)
    is_refusal = 400 <= error.status < 500 and error.status != 429
    return NodeFailed(error.code, _explained(error), is_final=is_refusal)


def _explained(error: RetinueError) -> str:
    """With what is wrong where, for nobody else will show the details."""
    if error.code != "validation_error" or not error.details:
        return error.message
    return "; ".join(f"{field} {what}" for field, what in error.details.items())[:1000]


RUNNING = Running(
    types=NODE_TYPES,
    inside=run_step,
    outside=run_call,
    abandoning=abandon_node,
    telling=tell_of_end,
    making_room=make_room,
)
