"""The jobs that workflows enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind, Retry
from retinue.kit.json_types import JsonObject
from retinue.workflows.models import WHOLE_NODE


class EndedExecution(msgspec.Struct):
    execution_id: str


class StartByEvent(msgspec.Struct):
    workflow_id: str
    event_id: str


class ScheduleDue(msgspec.Struct):
    schedule_id: str
    at: float


class QueuedExecutions(msgspec.Struct):
    """Empty: the job starts the queued executions of its tenant."""


class NodeTask(msgspec.Struct):
    execution_id: str
    node_id: str
    item: int = WHOLE_NODE
    attempt: int = 1
    result: JsonObject | None = None
    """The result with which a suspended node resumes; None starts the node."""


class AbandonedNode(msgspec.Struct):
    """A suspended node whose execution or loop ended before it was resumed."""

    type: str
    key: str
    state: JsonObject


_NODE_RETRY = Retry((0, 1, 5, 30, 120))

NOTIFY_END = JobKind("workflows.notify_end", EndedExecution)
START_BY_EVENT = JobKind(
    "workflows.start_by_event",
    StartByEvent,
    queue="workflows",
    retry=Retry((0, 5, 30, 300)),
)
FIRE_SCHEDULE = JobKind(
    "workflows.fire_schedule",
    ScheduleDue,
    queue="workflows",
    retry=Retry((0, 5, 30, 300)),
)
START_QUEUED = JobKind(
    "workflows.start_queued",
    QueuedExecutions,
    queue="workflows",
    retry=Retry((0, 1, 5, 30)),
)
RUN_STEP = JobKind("workflows.run_step", NodeTask, queue="workflows", retry=_NODE_RETRY)
RUN_CALL = JobKind("workflows.run_call", NodeTask, queue="workflow_calls", retry=_NODE_RETRY)
ABANDON_NODE = JobKind("workflows.abandon_node", AbandonedNode, queue="workflows")
