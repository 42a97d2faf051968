"""An execution whose row is locked, and how it advances when the task of a node ends."""

from collections import deque
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.kit.context.continuations import resume_continuation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.text.templates import render
from retinue.workflows.definition import Definition, Node, NodeRetry
from retinue.workflows.engine import graph, loop_items
from retinue.workflows.engine.admission import start_queued_executions
from retinue.workflows.engine.execution_events import emit_execution_ended, emit_node_completed, should_notify
from retinue.workflows.engine.lent_slots import end_slot_loan
from retinue.workflows.engine.node_type import (
    MAX_OUTPUT_BYTES,
    NODE_TYPES,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeSuspended,
)
from retinue.workflows.engine.records import record_node_run, record_skipped_node
from retinue.workflows.engine.scope import build_scope
from retinue.workflows.engine.trace import store_run
from retinue.workflows.engine.watchers import ExecutionWatchers
from retinue.workflows.job_kinds import (
    ABANDON_NODE,
    NOTIFY_END,
    RUN_CALL,
    RUN_STEP,
    AbandonedNode,
    EndedExecution,
    NodeTask,
)
from retinue.workflows.models import (
    ENDED_STATUSES,
    NODE_TRY,
    WHOLE_NODE,
    NodeRun,
    NodeStatus,
    RunStatus,
    Workflow,
    WorkflowExecution,
)
from retinue.workflows.queries import find_node_run, load_definition, load_outputs
from retinue.workflows.trail import TrailEntry, TrailEntryKind

_MAX_EVENT_OUTPUT_BYTES = 8 * 1024

_executions, _workflows, _runs = WorkflowExecution.__table__, Workflow.__table__, NodeRun.__table__
_STORED_COLUMNS = (
    "status", "is_running", "is_pending", "is_due", "progress", "open", "active", "lent", "trail",
    "output", "error", "started_at", "completed_at", "duration_ms", "conversation_ids",
)  # fmt: skip
_STORE_EXECUTION = Statement(
    sa.update(_executions)
    .where(_executions.c.id == sa.bindparam("execution_id"))
    .values(
        {name: sa.bindparam(f"new_{name}", type_=_executions.c[name].type) for name in _STORED_COLUMNS}
        | {"updated_at": sa.bindparam("now")}
    )
)
_COUNT_SUCCESS = Statement(
    sa.update(_workflows)
    .where(_workflows.c.id == sa.bindparam("workflow_id"))
    .values(success_count=_workflows.c.success_count + 1)
)
_CANCEL_OPEN_RUNS = Statement(
    sa.update(_runs)
    .where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.status.in_([sa.literal(NodeStatus.running.value), sa.literal(NodeStatus.waiting.value)]),
    )
    .values(status=NodeStatus.cancelled.value, completed_at=sa.bindparam("now"))
)


class LockedExecution:
    def __init__(self, ctx: Context, execution: WorkflowExecution, definition: Definition) -> None:
        self.ctx = ctx
        self.execution = execution
        self.definition = definition
        self._had_slot = execution.is_running
        self._recorded: dict[str, NodeRun] = {}
        self._inline_tasks: deque[NodeTask] = deque()

    @classmethod
    async def lock(cls, ctx: Context, execution_id: str) -> "LockedExecution | None":
        """Lock the execution; return None if it has ended."""
        execution = await ctx.db.lock(WorkflowExecution, execution_id)
        if execution is None or execution.status in ENDED_STATUSES:
            return None
        return cls(ctx, execution, await load_definition(ctx, execution.version_id))

    def begin(self, advance: graph.Advance) -> None:
        """Start the execution with its first nodes."""
        execution = self.execution
        execution.progress = advance.progress
        execution.open = len(advance.ready)
        execution.status, execution.is_running = RunStatus.running, True
        execution.is_pending = False
        execution.started_at = self.ctx.now
        for node_id in advance.ready:
            self.enqueue_task(NodeTask(execution.id, node_id))

    def append_to_trail(self, kind: TrailEntryKind, task: NodeTask) -> None:
        """Record an event of a node for its watchers; the items of a loop belong to the loop's own events."""
        if task.item == WHOLE_NODE:
            self.execution.trail.append(TrailEntry(kind, task.node_id))

    def enqueue_task(self, task: NodeTask, *, delay_s: float | None = None) -> None:
        """Enqueue a task; one that resumes a suspended node does not count as active."""
        node_type = NODE_TYPES[self.node_of(task).type]
        job = RUN_CALL if node_type.calls_outside else RUN_STEP
        self.ctx.defer(job, task, delay_s=delay_s, lane=self.execution.workflow_id)
        if task.result is None:
            self.execution.active += 1

    def _schedule_node(self, node_id: str) -> None:
        """Leave a pure node to this transaction (ADR 15); enqueue a job for any other node."""
        task = NodeTask(self.execution.id, node_id)
        if not NODE_TYPES[self.definition.nodes[node_id].type].is_pure:
            self.enqueue_task(task)
            return
        self._inline_tasks.append(task)
        self.execution.active += 1

    def next_inline_task(self) -> NodeTask | None:
        """Return the next task to run in this transaction, if any; `store` enqueues the remaining ones."""
        return self._inline_tasks.popleft() if self._inline_tasks else None

    def node_of(self, task: NodeTask) -> Node:
        """Return the task's node; for an item of a loop, the node that the loop repeats."""
        node = self.definition.nodes[task.node_id]
        if task.item == WHOLE_NODE:
            return node
        return msgspec.convert({**node.config["node"], "id": task.node_id}, Node)

    async def finish_task(
        self,
        task: NodeTask,
        step: NodeStep,
        run: NodeRun | None,
        outcome: NodeCompleted | NodeSuspended | NodeFailed,
    ) -> None:
        """Apply the outcome of a task; the caller stores the execution afterwards."""
        if task.result is None:
            self.execution.active -= 1
        await end_slot_loan(self.ctx, self.execution, run)
        if run is None:
            self.append_to_trail(TrailEntryKind.started, task)
        match outcome:
            case NodeSuspended():
                await self._suspend(task, step, run, outcome)
            case NodeCompleted():
                await self._complete_node(task, step, run, outcome)
            case NodeFailed():
                await self._fail_or_retry(task, step, run, outcome)

    async def _suspend(
        self, task: NodeTask, step: NodeStep, run: NodeRun | None, suspension: NodeSuspended
    ) -> None:
        await self._record(task, step, run, NodeStatus.waiting, state=suspension.state)
        if suspension.is_for_approval:
            self.append_to_trail(TrailEntryKind.approval_requested, task)
        for item in range(suspension.items):
            self.enqueue_task(NodeTask(self.execution.id, task.node_id, item))
        if suspension.delay_s is not None:
            self.enqueue_task(msgspec.structs.replace(task, result={}), delay_s=suspension.delay_s)

    async def _complete_node(
        self, task: NodeTask, step: NodeStep, run: NodeRun | None, completion: NodeCompleted
    ) -> None:
        encoded = msgspec.json.encode(completion.output)
        size = len(encoded)
        if size > MAX_OUTPUT_BYTES:
            message = "The output is larger than 1 MiB. Return less data from the node."
            too_large = NodeFailed("output_too_large", message, is_final=True)
            await self._fail_or_retry(task, step, run, too_large)
            return
        # Decoded again, so that conditions see the output as later readers of the record do.
        output = completion.output if NODE_TYPES[step.node.type].is_pure else msgspec.json.decode(encoded)
        ended = await self._record(task, step, run, NodeStatus.completed, output=output)
        if task.item != WHOLE_NODE:
            await self._finish_loop_item(task, failure=None)
            return
        self.append_to_trail(TrailEntryKind.finished, task)
        emit_node_completed(
            self.ctx, self.execution, ended, output if size <= _MAX_EVENT_OUTPUT_BYTES else None
        )
        await self._advance(step, output, is_branching_off=False)

    async def _fail_or_retry(
        self, task: NodeTask, step: NodeStep, run: NodeRun | None, failure: NodeFailed
    ) -> None:
        retry = step.node.retry or NodeRetry()
        if not failure.is_final and task.attempt <= retry.max and step.node.type != "loop":
            retry_task = NodeTask(task.execution_id, task.node_id, task.item, task.attempt + 1)
            self.enqueue_task(retry_task, delay_s=retry.delay_ms / 1000)
            await self._record(retry_task, step, run, NodeStatus.running)
            return
        error = failure.as_error()
        ended = await self._record(task, step, run, NodeStatus.failed, error=error)
        if task.item != WHOLE_NODE:
            await self._finish_loop_item(task, failure=failure)
            return
        self.append_to_trail(TrailEntryKind.finished, task)
        emit_node_completed(self.ctx, self.execution, ended, None)
        await self._abandon_loop_items(task, step)
        if step.node.on_error == "fail":
            await self.finish(RunStatus.failed, error={**error, "node_id": task.node_id})
            return
        await self._advance(step, {"error": error}, is_branching_off=step.node.on_error == "branch")

    async def _advance(self, step: NodeStep, output: object, *, is_branching_off: bool) -> None:
        execution = self.execution
        if is_branching_off:
            advance = graph.after_handled_failure(self.definition, execution.progress, step.node.id)
        else:
            advance = graph.after_success(
                self.definition,
                execution.progress,
                step.node.id,
                lambda edge: edge.is_taken(output, step.scope),
            )
        execution.progress = advance.progress
        execution.open += len(advance.ready) - 1
        for node_id in advance.ready:
            self._schedule_node(node_id)
        for node_id in advance.skipped:
            await self.skip(node_id)
        if step.node.type == "end":
            execution.output = output
        if execution.open == 0:
            await self._complete_execution(step.node.id, output)

    async def _complete_execution(self, last_node_id: str, output: object) -> None:
        """Complete the execution; without an end node, its output is that of its last nodes."""
        leaves = [id for id, edges in self.definition.outgoing.items() if not edges]
        if not any(node.type == "end" for node in self.definition.nodes.values()):
            if leaves == [last_node_id]:
                self.execution.output = output
            else:
                self.execution.output = await self._outputs_of(leaves)
        await self.finish(RunStatus.completed)

    async def _outputs_of(self, node_ids: list[str]) -> JsonObject:
        recorded = {id: self._recorded[id].output for id in node_ids if id in self._recorded}
        stored = await load_outputs(
            self.ctx, self.execution.id, [id for id in node_ids if id not in recorded]
        )
        outputs = stored | recorded
        return {id: outputs[id] for id in node_ids if id in outputs}

    async def finish(self, status: RunStatus, *, error: JsonObject | None = None) -> None:
        """End the execution; unless it completed, its open nodes are abandoned."""
        execution, ctx = self.execution, self.ctx
        if status is not RunStatus.completed:
            await self._abandon_open_nodes()
        execution.status, execution.error = status, error
        execution.open = execution.active = execution.lent = 0
        self._inline_tasks.clear()
        execution.is_running = execution.is_due = execution.is_pending = False
        execution.completed_at = ctx.now
        began = execution.started_at or execution.created_at
        execution.duration_ms = round((parse_instant(ctx.now) - parse_instant(began)).total_seconds() * 1000)
        emit_execution_ended(ctx, execution)
        await store_run(ctx, execution)
        if status is RunStatus.completed and execution.trigger != NODE_TRY:
            ctx.db.execute_at_commit(_COUNT_SUCCESS, workflow_id=execution.workflow_id)
        if should_notify(execution):
            ctx.defer(NOTIFY_END, EndedExecution(execution.id))
        if execution.waiter is not None:
            result = {
                "status": status,
                "output": execution.output,
                "error": error,
                "execution_id": execution.id,
                "conversation_ids": execution.conversation_ids,
            }
            await resume_continuation(ctx, execution.waiter, result)

    async def _abandon_open_nodes(self) -> None:
        for run in await self.ctx.db.all(NodeRun, execution_id=self.execution.id, status=NodeStatus.waiting):
            self._abandon(run)
        self.ctx.db.execute_at_commit(_CANCEL_OPEN_RUNS, execution_id=self.execution.id, now=self.ctx.now)

    async def _abandon_loop_items(self, task: NodeTask, step: NodeStep) -> None:
        """Abandon the suspended items of a loop that failed."""
        if step.node.type != "loop" or task.item != WHOLE_NODE:
            return
        for run in await self.ctx.db.all(NodeRun, execution_id=self.execution.id, node_id=task.node_id):
            if run.item != WHOLE_NODE and run.status is NodeStatus.waiting:
                self._abandon(run)
                await self.ctx.db.update(run, status=NodeStatus.cancelled, completed_at=self.ctx.now)

    def _abandon(self, run: NodeRun) -> None:
        if NODE_TYPES[run.type].abandon is not None:
            # In a separate job: the transaction of the awaited work may be waiting for our lock.
            key = f"{run.execution_id}:{run.node_id}:{run.item}"
            self.ctx.defer(ABANDON_NODE, AbandonedNode(run.type, key, run.state))

    async def store(self) -> None:
        """Store the execution at the commit; call once per transaction. One that only waits holds no slot."""
        execution = self.execution
        if execution.status not in ENDED_STATUSES:
            self._enqueue_inline_tasks()
            execution.is_running = execution.active > execution.lent
            execution.status = RunStatus.running if execution.active else RunStatus.waiting
        if self._had_slot and not execution.is_running:
            await start_queued_executions(self.ctx)
        self.notify_watchers()
        values = {f"new_{name}": getattr(execution, name) for name in _STORED_COLUMNS}
        self.ctx.db.execute_at_commit(_STORE_EXECUTION, execution_id=execution.id, now=self.ctx.now, **values)

    def _enqueue_inline_tasks(self) -> None:
        while self._inline_tasks:
            self.move_to_job(self._inline_tasks.popleft())

    def move_to_job(self, task: NodeTask) -> None:
        """Enqueue a job for a task that was left to this transaction."""
        self.execution.active -= 1
        self.enqueue_task(task)

    def notify_watchers(self) -> None:
        """Wake the watchers in this process after the commit; those of other processes poll."""
        live, execution_id = self.ctx.state(ExecutionWatchers), self.execution.id

        async def wake() -> None:
            live.wake(execution_id)

        self.ctx.after_commit(wake)

    async def _record(
        self, task: NodeTask, step: NodeStep, run: NodeRun | None, status: NodeStatus, **more: Any
    ) -> NodeRun:
        return self._remember(await record_node_run(self.ctx, task, step, run, status, **more))

    async def skip(self, node_id: str) -> None:
        self._remember(await record_skipped_node(self.ctx, self.execution.id, self.definition.nodes[node_id]))

    def _remember(self, run: NodeRun) -> NodeRun:
        """Keep the record for later nodes of this transaction; its row may be written at the commit only."""
        if run.item == WHOLE_NODE:
            self._recorded[run.node_id] = run
        return run

    async def _finish_loop_item(self, task: NodeTask, failure: NodeFailed | None) -> None:
        """Start the next item; after the last item, or a failure, finish the loop."""
        loop_task = NodeTask(self.execution.id, task.node_id, result={})
        run = await find_node_run(self.ctx, self.execution.id, task.node_id)
        if run is None or run.status is not NodeStatus.waiting:
            return
        loop_task.attempt = run.attempt
        state = loop_items.count_item(run.state, is_failure=failure is not None)
        await self.ctx.db.update(run, state=state)
        if failure is not None and not loop_items.continues_after(state, failure):
            await self.finish_task(loop_task, await self.step(loop_task), run, failure)
        elif state["left"] == 0:
            outputs = await loop_items.load_results(self.ctx, run)
            await self.finish_task(loop_task, await self.step(loop_task), run, NodeCompleted(outputs))
        elif state["next"] < state["count"]:
            await self.ctx.db.update(run, state={**state, "next": state["next"] + 1})
            self.enqueue_task(NodeTask(self.execution.id, task.node_id, state["next"]))

    async def step(self, task: NodeTask) -> NodeStep:
        """Return the input of a task; an error in the templates becomes its `fault`."""
        node = self.node_of(task)
        scope = await build_scope(self.ctx, self.execution, self.definition, node, self._recorded)
        if task.item != WHOLE_NODE:
            scope |= await loop_items.load_item_scope(self.ctx, self.execution.id, task.node_id, task.item)
        fault: NodeFailed | None = None
        config: JsonObject = {}
        try:
            config = render(loop_items.config_without_node(node), scope)
        except RetinueError as error:
            fault = NodeFailed(error.code, error.message, is_final=True)
        return NodeStep(
            execution=self.execution,
            node=node,
            item=task.item,
            config=config,
            scope=scope,
            fault=fault,
            branches=self.definition.branches(task.node_id),
        )
