"""A run whose row is locked: what happens to it when a node has had its turn."""

from collections import deque
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import moment
from retinue.kit.context import Context
from retinue.kit.continuations import go_on
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.templates import render
from retinue.workflows import loops, progress
from retinue.workflows.definition import Definition, Node, NodeRetry
from retinue.workflows.events import (
    WorkflowExecutionCompleted,
    WorkflowExecutionFailed,
    WorkflowNodeCompleted,
)
from retinue.workflows.live import LiveExecutions
from retinue.workflows.models import (
    ENDED,
    WHOLE,
    NodeRun,
    NodeStatus,
    RunStatus,
    Workflow,
    WorkflowExecution,
)
from retinue.workflows.nodes.kinds import MAX_OUTPUT_BYTES, Done, NodeFailed, Step, Waits
from retinue.workflows.queries import definition_of, find_run, outputs_of
from retinue.workflows.recording import record, record_skipped
from retinue.workflows.scope import scope_of
from retinue.workflows.turns import AbandonedNode, EndedExecution, NodeTurn, Running

_SHOWN_OUTPUT_BYTES = 8 * 1024

_executions, _workflows, _runs = WorkflowExecution.__table__, Workflow.__table__, NodeRun.__table__
_STORED = (
    "status", "is_running", "is_pending", "is_due", "progress", "open", "active", "trail",
    "output", "error", "started_at", "completed_at", "duration_ms",
)  # fmt: skip
_STORE: Statement[Any] = Statement(
    sa.update(_executions)
    .where(_executions.c.id == sa.bindparam("execution_id"))
    .values(
        {name: sa.bindparam(f"new_{name}", type_=_executions.c[name].type) for name in _STORED}
        | {"updated_at": sa.bindparam("now")}
    )
)
_COUNT_SUCCESS: Statement[Any] = Statement(
    sa.update(_workflows)
    .where(_workflows.c.id == sa.bindparam("workflow_id"))
    .values(success_count=_workflows.c.success_count + 1)
)
_CANCEL_OPEN_RUNS: Statement[Any] = Statement(
    sa.update(_runs)
    .where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.status.in_([sa.literal(NodeStatus.running.value), sa.literal(NodeStatus.waiting.value)]),
    )
    .values(status=NodeStatus.cancelled.value, completed_at=sa.bindparam("now"))
)


class HeldRun:
    def __init__(
        self, ctx: Context, execution: WorkflowExecution, definition: Definition, running: Running
    ) -> None:
        self.ctx = ctx
        self.execution = execution
        self.definition = definition
        self._running = running
        self._held_a_place = execution.is_running
        self._recorded: dict[str, NodeRun] = {}
        self._next: deque[NodeTurn] = deque()

    @classmethod
    async def take(cls, ctx: Context, execution_id: str, running: Running) -> "HeldRun | None":
        """Lock the run; nothing when it has ended."""
        execution = await ctx.db.lock(WorkflowExecution, execution_id)
        if execution is None or execution.status in ENDED:
            return None
        return cls(ctx, execution, await definition_of(ctx, execution.version_id), running)

    def begin(self, advance: progress.Advance) -> None:
        """The first nodes get their turn."""
        execution = self.execution
        execution.progress = advance.progress
        execution.open = len(advance.ready)
        execution.status, execution.is_running = RunStatus.running, True
        execution.is_pending = False
        execution.started_at = self.ctx.now
        for node_id in advance.ready:
            self.give_turn(NodeTurn(execution.id, node_id))

    def note(self, sign: str, turn: NodeTurn) -> None:
        """For those who watch; the items of a loop are told with the loop."""
        if turn.item == WHOLE:
            self.execution.trail += f" {sign}{turn.node_id}" if self.execution.trail else sign + turn.node_id

    def give_turn(self, turn: NodeTurn, *, delay_s: float | None = None) -> None:
        """A turn that only comes after a wait is not counted as active before."""
        kind = self._running.types[self.node_of(turn).type]
        job = self._running.outside if kind.calls_outside else self._running.inside
        self.ctx.defer(job, turn, delay_s=delay_s, lane=self.execution.workflow_id)
        if turn.result is None:
            self.execution.active += 1

    def _make_ready(self, node_id: str) -> None:
        """A node that only shapes or decides is left to this transaction, any other one gets a job."""
        turn = NodeTurn(self.execution.id, node_id)
        if not self._running.types[self.definition.nodes[node_id].type].is_pure:
            self.give_turn(turn)
            return
        self._next.append(turn)
        self.execution.active += 1

    def next_turn(self) -> NodeTurn | None:
        """A turn to have in this transaction, if there is one; what nobody asks for gets a job."""
        return self._next.popleft() if self._next else None

    def node_of(self, turn: NodeTurn) -> Node:
        """The node itself, or, for an item of a loop, the node that the loop repeats."""
        node = self.definition.nodes[turn.node_id]
        if turn.item == WHOLE:
            return node
        return msgspec.convert({**node.config["node"], "id": turn.node_id}, Node)

    async def end_turn(
        self, turn: NodeTurn, step: Step, run: NodeRun | None, outcome: Done | Waits | NodeFailed
    ) -> None:
        """What a turn came to; afterwards the run is to be stored."""
        if turn.result is None:
            self.execution.active -= 1
        if run is None:
            self.note("+", turn)
        match outcome:
            case Waits():
                await self._wait(turn, step, run, outcome)
            case Done():
                await self._done(turn, step, run, outcome)
            case NodeFailed():
                await self._failed(turn, step, run, outcome)

    async def _wait(self, turn: NodeTurn, step: Step, run: NodeRun | None, waits: Waits) -> None:
        await self._record(turn, step, run, NodeStatus.waiting, state=waits.state)
        if waits.is_for_approval:
            self.note("?", turn)
        for item in range(waits.items):
            self.give_turn(NodeTurn(self.execution.id, turn.node_id, item))
        if waits.delay_s is not None:
            self.give_turn(msgspec.structs.replace(turn, result={}), delay_s=waits.delay_s)

    async def _done(self, turn: NodeTurn, step: Step, run: NodeRun | None, done: Done) -> None:
        encoded = msgspec.json.encode(done.output)
        size = len(encoded)
        if size > MAX_OUTPUT_BYTES:
            too_large = NodeFailed("output_too_large", "The output is larger than 1 MiB.", is_final=True)
            await self._failed(turn, step, run, too_large)
            return
        # As whoever reads it from the record will see it.
        output = done.output if self._running.types[step.node.type].is_pure else msgspec.json.decode(encoded)
        ended = await self._record(turn, step, run, NodeStatus.completed, output=output)
        if turn.item != WHOLE:
            await self._item_ended(turn, failure=None)
            return
        self.note("=", turn)
        self._tell(ended, output if size <= _SHOWN_OUTPUT_BYTES else None)
        await self._advance(step, output, is_branching_off=False)

    async def _failed(self, turn: NodeTurn, step: Step, run: NodeRun | None, failure: NodeFailed) -> None:
        retry = step.node.retry or NodeRetry()
        if not failure.is_final and turn.attempt <= retry.max and step.node.type != "loop":
            again = NodeTurn(turn.execution_id, turn.node_id, turn.item, turn.attempt + 1)
            self.give_turn(again, delay_s=retry.delay_ms / 1000)
            await self._record(again, step, run, NodeStatus.running)
            return
        error = failure.as_error()
        ended = await self._record(turn, step, run, NodeStatus.failed, error=error)
        if turn.item != WHOLE:
            await self._item_ended(turn, failure=failure)
            return
        self.note("=", turn)
        self._tell(ended, None)
        await self._abandon_items(turn, step)
        if step.node.on_error == "fail":
            await self.end(RunStatus.failed, error={**error, "node_id": turn.node_id})
            return
        await self._advance(step, {"error": error}, is_branching_off=step.node.on_error == "branch")

    async def _advance(self, step: Step, output: Any, *, is_branching_off: bool) -> None:
        execution = self.execution
        if is_branching_off:
            advance = progress.after_handled_failure(self.definition, execution.progress, step.node.id)
        else:
            advance = progress.after_success(
                self.definition,
                execution.progress,
                step.node.id,
                lambda edge: edge.is_taken(output, step.scope),
            )
        execution.progress = advance.progress
        execution.open += len(advance.ready) - 1
        for node_id in advance.ready:
            self._make_ready(node_id)
        for node_id in advance.skipped:
            await self.skip(node_id)
        if step.node.type == "end":
            execution.output = output
        if execution.open == 0:
            await self._complete(step.node.id, output)

    async def _complete(self, last: str, output: Any) -> None:
        """Without an end node, the run gives back what its last nodes gave."""
        leaves = [id for id, edges in self.definition.outgoing.items() if not edges]
        if not any(node.type == "end" for node in self.definition.nodes.values()):
            if leaves == [last]:
                self.execution.output = output
            else:
                self.execution.output = await self._outputs_of(leaves)
        await self.end(RunStatus.completed)

    async def _outputs_of(self, node_ids: list[str]) -> dict[str, Any]:
        recorded = {id: self._recorded[id].output for id in node_ids if id in self._recorded}
        stored = await outputs_of(self.ctx, self.execution.id, [id for id in node_ids if id not in recorded])
        found = stored | recorded
        return {id: found[id] for id in node_ids if id in found}

    async def end(self, status: RunStatus, *, error: dict[str, Any] | None = None) -> None:
        """The run is over, whatever of it was still open."""
        execution, ctx = self.execution, self.ctx
        if status is not RunStatus.completed:
            await self._abandon_open_nodes()
        execution.status, execution.error = status, error
        execution.open = execution.active = 0
        self._next.clear()
        execution.is_running = execution.is_due = execution.is_pending = False
        execution.completed_at = ctx.now
        began = execution.started_at or execution.created_at
        execution.duration_ms = round((moment(ctx.now) - moment(began)).total_seconds() * 1000)
        told = WorkflowExecutionCompleted if status is RunStatus.completed else WorkflowExecutionFailed
        ctx.emit(
            told(
                workflow_id=execution.workflow_id,
                execution_id=execution.id,
                trigger=execution.trigger,
                status=status,
                output=execution.output,
                error=error,
                duration_ms=execution.duration_ms,
            )
        )
        if status is RunStatus.completed:
            ctx.db.execute_at_commit(_COUNT_SUCCESS, workflow_id=execution.workflow_id)
        if _is_told(execution):
            ctx.defer(self._running.telling, EndedExecution(execution.id))
        if execution.waiter is not None:
            result = {
                "status": status,
                "output": execution.output,
                "error": error,
                "execution_id": execution.id,
            }
            await go_on(ctx, execution.waiter, result)

    async def _abandon_open_nodes(self) -> None:
        for run in await self.ctx.db.all(NodeRun, execution_id=self.execution.id, status=NodeStatus.waiting):
            self._abandon(run)
        self.ctx.db.execute_at_commit(_CANCEL_OPEN_RUNS, execution_id=self.execution.id, now=self.ctx.now)

    async def _abandon_items(self, turn: NodeTurn, step: Step) -> None:
        """Of a loop that failed: nobody waits for the rest of its items any more."""
        if step.node.type != "loop" or turn.item != WHOLE:
            return
        for run in await self.ctx.db.all(NodeRun, execution_id=self.execution.id, node_id=turn.node_id):
            if run.item != WHOLE and run.status is NodeStatus.waiting:
                self._abandon(run)
                await self.ctx.db.update(run, status=NodeStatus.cancelled, completed_at=self.ctx.now)

    def _abandon(self, run: NodeRun) -> None:
        if self._running.types[run.type].abandon is not None:
            key = f"{run.execution_id}:{run.node_id}:{run.item}"
            self.ctx.defer(self._running.abandoning, AbandonedNode(run.type, key, run.state))

    async def store(self) -> None:
        """Once, at the end of the transaction; a run with nothing to do but wait holds no place."""
        execution = self.execution
        if execution.status not in ENDED:
            self._leave_the_rest_to_jobs()
            execution.is_running = execution.active > 0
            execution.status = RunStatus.running if execution.active else RunStatus.waiting
        if self._held_a_place and not execution.is_running:
            await self._running.making_room(self.ctx)
        self.watched()
        values = {f"new_{name}": getattr(execution, name) for name in _STORED}
        self.ctx.db.execute_at_commit(_STORE, execution_id=execution.id, now=self.ctx.now, **values)

    def _leave_the_rest_to_jobs(self) -> None:
        while self._next:
            self.put_off(self._next.popleft())

    def put_off(self, turn: NodeTurn) -> None:
        """A turn of this transaction gets a job after all."""
        self.execution.active -= 1
        self.give_turn(turn)

    def watched(self) -> None:
        """Whoever watches in this process hears of it at once, the others when they look next."""
        live, execution_id = self.ctx.adapter(LiveExecutions), self.execution.id

        async def wake() -> None:
            live.wake(execution_id)

        self.ctx.after_commit(wake)

    async def _record(
        self, turn: NodeTurn, step: Step, run: NodeRun | None, status: NodeStatus, **more: Any
    ) -> NodeRun:
        return self._known(await record(self.ctx, turn, step, run, status, **more))

    async def skip(self, node_id: str) -> None:
        self._known(await record_skipped(self.ctx, self.execution.id, self.definition.nodes[node_id]))

    def _known(self, run: NodeRun) -> NodeRun:
        """Its row may only be written at the commit, and nodes after it look at it before."""
        if run.item == WHOLE:
            self._recorded[run.node_id] = run
        return run

    def _tell(self, run: NodeRun, output: Any) -> None:
        self.ctx.emit(
            WorkflowNodeCompleted(
                workflow_id=self.execution.workflow_id,
                execution_id=self.execution.id,
                node_id=run.node_id,
                node_type=run.type,
                status=run.status,
                output=output,
                duration_ms=run.duration_ms or 0,
            )
        )

    async def _item_ended(self, turn: NodeTurn, failure: NodeFailed | None) -> None:
        """The next item gets its turn; after the last one, or a failure, the loop itself goes on."""
        whole = NodeTurn(self.execution.id, turn.node_id, result={})
        run = await find_run(self.ctx, self.execution.id, turn.node_id)
        if run is None or run.status is not NodeStatus.waiting:
            return
        whole.attempt = run.attempt
        state = loops.after_item(run.state, is_failure=failure is not None)
        await self.ctx.db.update(run, state=state)
        if failure is not None and not state["goes_on"]:
            await self.end_turn(whole, await self.step(whole), run, failure)
        elif state["left"] == 0:
            outputs = await loops.results_of(self.ctx, run)
            await self.end_turn(whole, await self.step(whole), run, Done(outputs))
        elif state["next"] < state["count"]:
            await self.ctx.db.update(run, state={**state, "next": state["next"] + 1})
            self.give_turn(NodeTurn(self.execution.id, turn.node_id, state["next"]))

    async def step(self, turn: NodeTurn) -> Step:
        """What the node is given when its turn comes; templates that cannot be filled in are its `fault`."""
        node = self.node_of(turn)
        scope = await scope_of(self.ctx, self.execution, self.definition, node, self._recorded)
        if turn.item != WHOLE:
            scope |= await loops.scope_of_item(self.ctx, self.execution.id, turn.node_id, turn.item)
        fault: NodeFailed | None = None
        config: dict[str, Any] = {}
        try:
            config = render(loops.outer_config(node), scope)
        except RetinueError as error:
            fault = NodeFailed(error.code, error.message, is_final=True)
        return Step(
            execution=self.execution,
            node=node,
            item=turn.item,
            config=config,
            scope=scope,
            attempt=turn.attempt,
            fault=fault,
            branches=self.definition.branches(turn.node_id),
        )


def _is_told(execution: WorkflowExecution) -> bool:
    """A failure always, unless somebody waits for it; a success only to the person who asked for it."""
    if execution.waiter is not None or execution.status is RunStatus.cancelled:
        return False
    return execution.status is not RunStatus.completed or execution.trigger == "manual"
