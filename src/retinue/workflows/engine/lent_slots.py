"""Slots lent to awaited executions: both executions must be able to end under a plan with one slot.

Nodes that wait without a call (`sub_workflow`, `agent`) hold no slot. A tool of kind `workflow` waits inside
its call, so its task is counted as lent in the execution's row and marked in the node's record. Ending the
task, or running it again after a crash, takes the slot back once.
"""

from retinue.kit.context import Context
from retinue.workflows.models import ENDED_STATUSES, NodeRun, NodeStatus, WorkflowExecution
from retinue.workflows.queries import find_node_run

_LENT_KEY = "lent"


async def lend_slot(ctx: Context, key: str) -> None:
    """Lend the slot of a waiting task, in the transaction that starts the awaited execution."""
    execution, run = await _lock_node_run(ctx, key)
    if execution is None or run is None or run.status is not NodeStatus.running:
        return
    # One call may await several executions: an agent can call tools concurrently.
    awaited_count = run.state.get(_LENT_KEY, 0)
    await ctx.db.update(run, state={**run.state, _LENT_KEY: awaited_count + 1})
    if not awaited_count:
        await _store_lent(ctx, execution, execution.lent + 1)


async def reclaim_slot(ctx: Context, key: str) -> None:
    """Take the slot back after the awaited execution ended; this needs no admission."""
    execution, run = await _lock_node_run(ctx, key)
    if execution is None or run is None or _LENT_KEY not in run.state:
        return
    if run.state[_LENT_KEY] > 1:
        await ctx.db.update(run, state={**run.state, _LENT_KEY: run.state[_LENT_KEY] - 1})
    elif await end_slot_loan(ctx, execution, run):
        await _store_lent(ctx, execution, execution.lent)


async def end_slot_loan(ctx: Context, execution: WorkflowExecution, run: NodeRun | None) -> bool:
    """End the loan for a locked execution; return whether the execution must be stored."""
    if run is None or _LENT_KEY not in run.state:
        return False
    execution.lent -= 1
    await ctx.db.update(run, state={name: value for name, value in run.state.items() if name != _LENT_KEY})
    return True


async def _lock_node_run(ctx: Context, key: str) -> tuple[WorkflowExecution | None, NodeRun | None]:
    execution_id, node_id, item = key.split(":")
    execution = await ctx.db.lock(WorkflowExecution, execution_id)
    if execution is None or execution.status in ENDED_STATUSES:
        return None, None
    return execution, await find_node_run(ctx, execution_id, node_id, int(item))


async def _store_lent(ctx: Context, execution: WorkflowExecution, lent: int) -> None:
    await ctx.db.update(execution, lent=lent, is_running=execution.active > lent)
