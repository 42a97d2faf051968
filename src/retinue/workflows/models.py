from enum import StrEnum
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.continuations import Waiting
from retinue.kit.db.models import Ref, TenantRecord, index_where, table


class WorkflowStatus(StrEnum):
    draft = "draft"
    published = "published"
    archived = "archived"


class RunStatus(StrEnum):
    pending = "pending"
    running = "running"
    waiting = "waiting"
    completed = "completed"
    failed = "failed"
    timeout = "timeout"
    cancelled = "cancelled"


ENDED = frozenset({RunStatus.completed, RunStatus.failed, RunStatus.timeout, RunStatus.cancelled})


class NodeStatus(StrEnum):
    running = "running"
    waiting = "waiting"
    completed = "completed"
    failed = "failed"
    skipped = "skipped"
    cancelled = "cancelled"


@table(
    "workflows",
    prefix="wf",
    indexes=[("tenant_id", "created_at"), ("tenant_id", "status", "created_at")],
    extra=index_where("listens", "tenant_id"),
)
class Workflow(TenantRecord, kw_only=True):
    """A graph of steps, as it is being edited; what runs is one of its versions."""

    name: str
    description: str = ""
    status: WorkflowStatus = WorkflowStatus.draft
    version: int = 1
    trigger: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "manual", "config": {}})
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    input_schema: dict[str, Any] | None = None
    settings: dict[str, Any] = {}
    listens: bool = False
    """Is published and started by events."""
    published_at: Instant | None = None
    execution_count: int = 0
    success_count: int = 0
    created_by: str = ""


@table("workflow_versions", prefix="wfv", indexes=[("tenant_id", "workflow_id", "version")])
class WorkflowVersion(TenantRecord, kw_only=True):
    """What runs, and never changes; a trial run of a draft makes one that no list shows."""

    workflow_id: Annotated[str, Ref(Workflow, cascade=True)]
    version: int
    is_draft: bool = False
    name: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    input_schema: dict[str, Any] | None = None
    settings: dict[str, Any] = {}
    created_by: str = ""


def _of_executions(made: sa.Table) -> None:
    index_where("is_running", "tenant_id", "workflow_id")(made)
    index_where("is_due", "deadline_at")(made)
    index_where("is_pending", "tenant_id", "created_at")(made)


@table(
    "workflow_executions",
    prefix="wfx",
    led_by_time=True,
    indexes=[
        ("tenant_id", "workflow_id", "created_at"),
        ("tenant_id", "workflow_id", "status", "created_at"),
    ],
    extra=_of_executions,
)
class WorkflowExecution(TenantRecord, kw_only=True):
    """One run of one version.

    `progress` is what became of each edge, `open` how many nodes are still to end, and `active` how many
    turns of nodes are due or running. They change only while the row is locked, so that of two nodes that end
    at once exactly one sees that their join is ready.
    """

    workflow_id: Annotated[str, Ref(Workflow, cascade=True)]
    version_id: str
    version: int
    status: RunStatus = RunStatus.pending
    is_running: bool = False
    """Holds one of the places that the plan allows; one that only waits holds none."""
    is_pending: bool = False
    """Waits for such a place, or for a minute with room."""
    is_due: bool = False
    """Has a deadline and has not ended."""
    trigger: str
    trigger_id: str = ""
    trigger_data: dict[str, Any] = {}
    input: Any | None = None
    output: Any | None = None
    error: dict[str, Any] | None = None
    progress: str = ""
    open: int = 0
    active: int = 0
    trail: str = ""
    """What its nodes did, in that order, for those who watch: `+n1 =n1 +n2 ?n2`."""
    run_as: str = ""
    correlation_id: str = ""
    hops: int = 0
    depth: int = 0
    retry_of: str | None = None
    waiter: Waiting | None = None
    """Who goes on when this has ended."""
    deadline_at: float | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    duration_ms: int | None = None


WHOLE = -1


@table(
    "workflow_node_runs",
    prefix="wfn",
    led_by_time=True,
    unique=[("tenant_id", "execution_id", "node_id", "item")],
)
class NodeRun(TenantRecord, kw_only=True):
    """What one node did in one run; inside a loop, once for each `item`."""

    execution_id: Annotated[str, Ref(WorkflowExecution, cascade=True)]
    node_id: str
    item: int = WHOLE
    type: str
    status: NodeStatus
    input: Any | None = None
    output: Any | None = None
    error: dict[str, Any] | None = None
    attempt: int = 1
    state: dict[str, Any] = {}
    """What the node keeps for itself between its steps: how far a loop is, whom it waits for."""
    started_at: Instant
    completed_at: Instant | None = None
    duration_ms: int | None = None


@table(
    "workflow_schedules",
    prefix="wfs",
    indexes=[("tenant_id", "workflow_id", "created_at")],
    extra=index_where("active", "next_at"),
)
class WorkflowSchedule(TenantRecord, kw_only=True):
    workflow_id: Annotated[str, Ref(Workflow, cascade=True)]
    cron: str
    timezone: str = "UTC"
    input: Any | None = None
    active: bool = True
    is_trigger: bool = False
    """Stands for the trigger of its workflow, and changes with it."""
    next_at: float | None = None
    last_run_at: Instant | None = None
    created_by: str = ""
