from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.clock import Instant
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schemas import Name, Schema
from retinue.workflows.definition import MAX_EDGES, MAX_NODES
from retinue.workflows.models import (
    NodeRun,
    NodeStatus,
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowStatus,
    WorkflowVersion,
)

Json = dict[str, Any]
Description = Annotated[str, Meta(max_length=2_000)]
Nodes = Annotated[list[Json], Meta(max_length=MAX_NODES)]
Edges = Annotated[list[Json], Meta(max_length=MAX_EDGES)]
Id = Annotated[str, Meta(max_length=64)]


class WorkflowTrigger(Schema, kw_only=True):
    """What starts the workflow besides those who call it.

    `event` has `event_type` and `filters`, `schedule` has `cron`, `timezone` and `input`.
    """

    type: Literal["manual", "form", "incoming_webhook", "event", "schedule"] = "manual"
    config: Json = {}


class WorkflowSettings(Schema, kw_only=True):
    timeout_ms: Annotated[int, Meta(ge=1, le=400 * 86_400_000)] | None = None
    max_concurrency: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    on_failure_channel_id: Id | None = None


class WorkflowCreate(Schema, kw_only=True):
    name: Name
    description: Description | None = None
    status: Literal["draft", "published"] = "draft"
    trigger: WorkflowTrigger | None = None
    nodes: Nodes = []
    edges: Edges = []
    input_schema: Json | None = None
    settings: WorkflowSettings | None = None


class WorkflowUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    status: WorkflowStatus | UnsetType = UNSET
    trigger: WorkflowTrigger | UnsetType | None = UNSET
    nodes: Nodes | UnsetType = UNSET
    edges: Edges | UnsetType = UNSET
    input_schema: Json | UnsetType | None = UNSET
    settings: WorkflowSettings | UnsetType | None = UNSET


class WorkflowList(ListQuery, kw_only=True):
    status: WorkflowStatus | None = None


class WorkflowStats(Schema):
    """`success_rate` is in percent, of all that were started."""

    executions: int
    success_rate: float


class WorkflowOut(Schema, kw_only=True):
    id: str
    name: str
    description: str
    status: WorkflowStatus
    version: int
    trigger: WorkflowTrigger
    nodes: list[Json]
    edges: list[Json]
    input_schema: Json | None
    settings: WorkflowSettings
    stats: WorkflowStats
    created_by: str
    created_at: Instant
    updated_at: Instant
    published_at: Instant | None


def shown(workflow: Workflow) -> WorkflowOut:
    count = workflow.execution_count
    rate = round(100 * workflow.success_count / count, 1) if count else 0.0
    return WorkflowOut.of(
        workflow,
        trigger=msgspec.convert(workflow.trigger, WorkflowTrigger),
        settings=msgspec.convert(workflow.settings, WorkflowSettings),
        stats=WorkflowStats(executions=count, success_rate=rate),
    )


class WorkflowState(Schema, kw_only=True):
    id: str
    status: WorkflowStatus
    version: int
    published_at: Instant | None
    updated_at: Instant


class WorkflowVersionOut(Schema, kw_only=True):
    version: int
    name: str
    nodes: list[Json]
    edges: list[Json]
    input_schema: Json | None
    settings: WorkflowSettings
    created_by: str
    created_at: Instant


def shown_version(version: WorkflowVersion) -> WorkflowVersionOut:
    return WorkflowVersionOut.of(version, settings=msgspec.convert(version.settings, WorkflowSettings))


class WorkflowProblem(Schema):
    node_id: str | None
    path: str
    message: str


class WorkflowValidated(Schema):
    valid: bool
    errors: list[WorkflowProblem]


class WorkflowNodeType(Schema):
    type: str
    name: str
    description: str
    config_schema: Json


class WorkflowExecute(Schema, kw_only=True):
    """`wait` is for how many seconds the answer may be waited for."""

    input: Any = msgspec.field(default_factory=dict)
    wait: Annotated[float, Meta(ge=0, le=60)] = 0


class ExecuteQuery(Schema, kw_only=True):
    draft: bool = False


class ExecutionList(PageQuery, kw_only=True):
    status: RunStatus | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None


class WorkflowExecutionSummary(Schema, kw_only=True):
    id: str
    workflow_id: str
    version: int
    status: RunStatus
    trigger: str
    retry_of: str | None
    created_at: Instant
    started_at: Instant | None
    completed_at: Instant | None
    duration_ms: int | None
    error: Json | None


class WorkflowNodeRun(Schema, kw_only=True):
    """`item` is the place in a loop's items, and null for the node as a whole."""

    node_id: str
    item: int | None
    type: str
    status: NodeStatus
    input: Any
    output: Any
    error: Json | None
    attempt: int
    started_at: Instant
    completed_at: Instant | None
    duration_ms: int | None


class WorkflowExecutionOut(WorkflowExecutionSummary, kw_only=True):
    execution_id: str
    input: Any
    output: Any
    nodes: list[WorkflowNodeRun]
    run_as: str
    correlation_id: str


class WorkflowExecutionAccepted(Schema, kw_only=True):
    execution_id: str
    workflow_id: str
    status: RunStatus
    retry_of: str | None
    correlation_id: str
    created_at: Instant


def shown_run(run: NodeRun) -> WorkflowNodeRun:
    return WorkflowNodeRun.of(run, item=run.item if run.item >= 0 else None)


def shown_execution(execution: WorkflowExecution, runs: list[NodeRun]) -> WorkflowExecutionOut:
    return WorkflowExecutionOut.of(
        execution, execution_id=execution.id, nodes=[shown_run(run) for run in runs]
    )


def accepted(execution: WorkflowExecution) -> WorkflowExecutionAccepted:
    """To whoever does not wait, a run that has just been accepted is pending, however fast it is."""
    return WorkflowExecutionAccepted.of(execution, execution_id=execution.id, status=RunStatus.pending)


class WorkflowRetry(Schema, kw_only=True):
    from_node: Id | None = None


class WorkflowScheduleCreate(Schema, kw_only=True):
    cron: Annotated[str, Meta(min_length=1, max_length=200)]
    timezone: Annotated[str, Meta(max_length=64)] = "UTC"
    input: Any = msgspec.field(default_factory=dict)
    active: bool = True


class WorkflowScheduleOut(Schema, kw_only=True):
    id: str
    cron: str
    timezone: str
    input: Any
    active: bool
    next_run_at: Instant | None
    last_run_at: Instant | None
    created_at: Instant
