from enum import StrEnum
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.context.drafts import DraftRecord
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, index_equal, index_where, table
from retinue.kit.json_types import JsonObject
from retinue.workflows.trail import TrailEntry


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


NODE_TRY = "try"
"""The trigger of an execution that tries one node and is no run of its workflow."""

ENDED_STATUSES = frozenset({RunStatus.completed, RunStatus.failed, RunStatus.timeout, RunStatus.cancelled})


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
    """A graph of nodes as it is edited; executions run one of its versions."""

    __untagged__ = frozenset({"execution_count", "success_count"})

    name: str
    description: str = ""
    status: WorkflowStatus = WorkflowStatus.draft
    version: int = 1
    trigger: JsonObject = msgspec.field(default_factory=lambda: {"type": "manual", "config": {}})
    nodes: list[JsonObject] = []
    edges: list[JsonObject] = []
    input_schema: JsonObject | None = None
    settings: JsonObject = {}
    ui: Annotated[JsonObject, ServerDefault("'{}'")] = {}
    """State of editors, such as positions; it is never run."""
    listens: bool = False
    """Whether it is published and has an event trigger."""
    published_at: Instant | None = None
    execution_count: int = 0
    success_count: int = 0
    created_by: str = ""


@table("workflow_drafts", prefix="wfd", unique=[("tenant_id", "owner_id")])
class WorkflowDraft(DraftRecord, kw_only=True):
    """Changes of a workflow that are not in use yet."""

    owner_id: Annotated[str, Ref(Workflow, cascade=True)]


@table("workflow_versions", prefix="wfv", indexes=[("tenant_id", "workflow_id", "version")])
class WorkflowVersion(TenantRecord, kw_only=True):
    """The immutable content that executions run. Versions of draft runs are not listed."""

    workflow_id: Annotated[str, Ref(Workflow, cascade=True)]
    version: int
    is_draft: bool = False
    name: str
    nodes: list[JsonObject]
    edges: list[JsonObject]
    input_schema: JsonObject | None = None
    settings: JsonObject = {}
    ui: Annotated[JsonObject, ServerDefault("'{}'")] = {}
    created_by: str = ""


def _add_execution_indexes(made: sa.Table) -> None:
    index_where("is_running", "tenant_id", "workflow_id")(made)
    index_where("is_due", "deadline_at")(made)
    index_where("is_pending", "tenant_id", "created_at")(made)
    index_equal("status", RunStatus.failed.value, "tenant_id", "created_at")(made)
    is_descendant = made.c.root_id.is_not(None)
    sa.Index(
        "ix_workflow_executions_descendants",
        made.c.tenant_id,
        made.c.root_id,
        made.c.started_at,
        sqlite_where=is_descendant,
        postgresql_where=is_descendant,
    )


@table(
    "workflow_executions",
    prefix="wfx",
    time_ordered_ids=True,
    indexes=[
        ("tenant_id", "workflow_id", "created_at"),
        ("tenant_id", "workflow_id", "status", "created_at"),
    ],
    extra=_add_execution_indexes,
)
class WorkflowExecution(TenantRecord, kw_only=True):
    """One execution of one version.

    `progress` is the state of each edge, `open` the number of nodes that have not ended, and `active` the
    number of node tasks that are due or running. They change only while the row is locked, so when two nodes
    end at once, exactly one of them makes their join ready.
    """

    workflow_id: Annotated[str, Ref(Workflow, cascade=True)]
    version_id: str
    version: int
    status: RunStatus = RunStatus.pending
    is_running: bool = False
    """Whether it holds one of the plan's slots; an execution that only waits holds none."""
    is_pending: bool = False
    """Whether it is queued for a slot or for the rate limit."""
    is_due: bool = False
    """Whether it has a deadline and has not ended."""
    trigger: str
    trigger_id: str = ""
    trigger_data: JsonObject = {}
    input: Any | None = None
    output: Any | None = None
    error: JsonObject | None = None
    progress: str = ""
    open: int = 0
    active: int = 0
    trail: list[TrailEntry] = []
    """The events of its nodes in order, for streams."""
    run_as: str = ""
    correlation_id: str = ""
    trace_parent: Annotated[str, ServerDefault("''")] = ""
    hops: int = 0
    depth: int = 0
    root_id: str | None = None
    """The first execution of the chain that started this one; None for a root."""
    awaited_by: Annotated[str, ServerDefault("''")] = ""
    """The nodes that wait for it, the outermost first, as `engine.lineage` writes them."""
    lent: Annotated[int, ServerDefault("0")] = 0
    """The number of active tasks that wait for another execution inside a call; they need no slot."""
    retry_of: str | None = None
    waiter: ContinuationRef | None = None
    """The continuation to resume when this execution ends."""
    deadline_at: float | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    duration_ms: int | None = None
    conversation_ids: list[str] | None = None
    """The conversations it quotes; see `kit.context.conversation_access`."""


@table("workflow_chains", prefix="wfc", indexes=[("updated_at",)])
class WorkflowChain(TenantRecord, kw_only=True):
    """The number of executions that a root has started, directly or indirectly; `id` is the root's."""

    run_count: int = 0


WHOLE_NODE = -1


@table(
    "workflow_node_runs",
    prefix="wfn",
    time_ordered_ids=True,
    unique=[("tenant_id", "execution_id", "node_id", "item")],
)
class NodeRun(TenantRecord, kw_only=True):
    """The record of one node in one execution; inside a loop, one record for each `item`."""

    execution_id: Annotated[str, Ref(WorkflowExecution, cascade=True)]
    node_id: str
    item: int = WHOLE_NODE
    type: str
    status: NodeStatus
    input: Any | None = None
    output: Any | None = None
    error: JsonObject | None = None
    attempt: int = 1
    state: JsonObject = {}
    """State of a suspended node until it resumes: the progress of a loop, the id of the awaited work."""
    started_at: Instant
    completed_at: Instant | None = None
    duration_ms: int | None = None


@table(
    "workflow_spendings",
    prefix="wsp",
    time_ordered_ids=True,
    indexes=[("tenant_id", "execution_id", "node_id"), ("created_at",)],
)
class WorkflowSpending(TenantRecord, kw_only=True):
    """Tokens of a model call or turn on behalf of a node, and their cost, if the price is known.

    A node that waits for another execution has a row for everything that is spent in there. There is no
    foreign key: what was spent is stored even if the execution has been deleted since.
    """

    execution_id: str
    node_id: str
    item: int = WHOLE_NODE
    tokens: int
    cost_usd: float | None = None


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
    """Whether it represents the trigger of its workflow and changes with it."""
    next_at: float | None = None
    last_run_at: Instant | None = None
    created_by: str = ""
