from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.conversation_ids import without_message
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.drafts import DraftState
from retinue.kit.text.header_masks import mask_config_headers
from retinue.workflows.definition import MAX_EDGES, MAX_NODES, NodeId
from retinue.workflows.models import (
    WHOLE_NODE,
    NodeRun,
    NodeStatus,
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowStatus,
    WorkflowVersion,
)
from retinue.workflows.spendings import NOTHING_KNOWN, Spent, SpentInside

_WRITE = "workflows:write"
Description = Annotated[str, Meta(max_length=2_000)]
Nodes = Annotated[list[JsonObject], Meta(max_length=MAX_NODES)]
Edges = Annotated[list[JsonObject], Meta(max_length=MAX_EDGES)]
Id = Annotated[str, Meta(max_length=64)]
Cron = Annotated[str, Meta(min_length=1, max_length=200)]
Timezone = Annotated[str, Meta(max_length=64)]


class WorkflowTrigger(Schema, kw_only=True):
    """Trigger that starts the workflow, besides requests to execute it.

    `event` has `event_type` and `filters`, `schedule` has `cron`, `timezone` and `input`.
    """

    type: Literal["manual", "form", "incoming_webhook", "event", "schedule"] = "manual"
    config: JsonObject = {}


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
    input_schema: JsonObject | None = None
    settings: WorkflowSettings | None = None
    ui: JsonObject | None = None


class WorkflowContentChanges(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    trigger: WorkflowTrigger | UnsetType | None = UNSET
    nodes: Nodes | UnsetType = UNSET
    edges: Edges | UnsetType = UNSET
    input_schema: JsonObject | UnsetType | None = UNSET
    settings: WorkflowSettings | UnsetType | None = UNSET
    ui: JsonObject | UnsetType | None = UNSET


class WorkflowUpdate(WorkflowContentChanges, kw_only=True):
    status: WorkflowStatus | UnsetType = UNSET


class WorkflowDraftUpdate(Schema, kw_only=True):
    content: WorkflowContentChanges


class WorkflowDraftContent(Schema, kw_only=True):
    name: str
    description: str
    trigger: WorkflowTrigger
    nodes: list[JsonObject]
    edges: list[JsonObject]
    input_schema: JsonObject | None
    settings: WorkflowSettings
    ui: JsonObject


class WorkflowDraftOut(DraftState, kw_only=True):
    workflow_id: str
    content: WorkflowDraftContent


class WorkflowList(ListQuery, kw_only=True):
    status: WorkflowStatus | None = None


class WorkflowStats(Schema):
    """`success_rate` is the percentage of all started executions that completed."""

    executions: int
    success_rate: float


class WorkflowOut(Schema, kw_only=True):
    id: str
    name: str
    description: str
    status: WorkflowStatus
    version: int
    trigger: WorkflowTrigger
    nodes: list[JsonObject]
    edges: list[JsonObject]
    input_schema: JsonObject | None
    settings: WorkflowSettings
    ui: JsonObject
    stats: WorkflowStats
    created_by: str
    created_at: Instant
    updated_at: Instant
    published_at: Instant | None


def render_workflow(ctx: Context, workflow: Workflow) -> WorkflowOut:
    count = workflow.execution_count
    rate = round(100 * workflow.success_count / count, 1) if count else 0.0
    return WorkflowOut.of(
        workflow,
        nodes=mask_config_headers(ctx.principal, workflow.nodes, _WRITE),
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
    nodes: list[JsonObject]
    edges: list[JsonObject]
    input_schema: JsonObject | None
    settings: WorkflowSettings
    ui: JsonObject
    created_by: str
    created_at: Instant


def shown_version(ctx: Context, version: WorkflowVersion) -> WorkflowVersionOut:
    return WorkflowVersionOut.of(
        version,
        nodes=mask_config_headers(ctx.principal, version.nodes, _WRITE),
        settings=msgspec.convert(version.settings, WorkflowSettings),
    )


class WorkflowContent(Schema, kw_only=True):
    """Nodes and edges as an editor has them, saved or not."""

    nodes: Nodes = []
    edges: Edges = []


class WorkflowProblem(Schema):
    node_id: str | None
    path: str
    message: str


class WorkflowValidated(Schema):
    valid: bool
    errors: list[WorkflowProblem]


class WorkflowPrompt(Schema, kw_only=True):
    """A description of the workflow to propose."""

    prompt: Annotated[str, Meta(min_length=1, max_length=8000)]
    model: Annotated[str, Meta(max_length=200)] | None = None


class WorkflowProposal(WorkflowValidated):
    """A workflow that a model has written and nobody has saved."""

    name: str
    description: str
    nodes: list[JsonObject]
    edges: list[JsonObject]


class WorkflowExplanationRequest(Schema, kw_only=True):
    language: Annotated[str, Meta(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$(?!\n)", max_length=35)] = "en"
    from_draft: bool = False
    model: Annotated[str, Meta(max_length=200)] | None = None


class NodeExplanation(Schema):
    node_id: str
    text: str


class WorkflowExplanation(Schema):
    """A workflow in plain words."""

    summary: str
    nodes: list[NodeExplanation]


class WorkflowNodeType(Schema):
    type: str
    name: str
    description: str
    config_schema: JsonObject


class WorkflowExecute(Schema, kw_only=True):
    """`wait` is the time in seconds that the response may wait for the end of the execution."""

    input: Any = msgspec.field(default_factory=dict)
    wait: Annotated[float, Meta(ge=0, le=60)] = 0


class WorkflowExecuteQuery(Schema, kw_only=True):
    draft: bool = False


class WorkflowNodeTry(Schema, kw_only=True):
    """A node as an editor has it, saved or not, and what it reads."""

    node: JsonObject
    input: Any = msgspec.field(default_factory=dict)
    outputs: Annotated[dict[NodeId, Any], Meta(max_length=MAX_NODES - 1)] = {}
    wait: Annotated[float, Meta(ge=0, le=60)] = 30


class WorkflowExecutionList(PageQuery, kw_only=True):
    status: RunStatus | None = None
    trigger: Annotated[str, Meta(max_length=64)] | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None


class WorkflowExecutionSummary(Schema, kw_only=True):
    """`redacted` is true where values are left out that quote a conversation the caller may not read."""

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
    error: JsonObject | None
    tokens: int | None
    cost_usd: float | None
    redacted: bool | UnsetType = UNSET


class WorkflowNodeRun(Schema, kw_only=True):
    """`item` is the position in a loop's items, or null for the node as a whole."""

    node_id: str
    item: int | None
    type: str
    status: NodeStatus
    input: Any
    output: Any
    error: JsonObject | None
    attempt: int
    started_at: Instant
    completed_at: Instant | None
    duration_ms: int | None
    tokens: int | None
    cost_usd: float | None


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


def shown_run(ctx: Context, run: NodeRun, spent: SpentInside) -> WorkflowNodeRun:
    given = mask_config_headers(ctx.principal, run.input, _WRITE)
    if run.item == WHOLE_NODE:
        return WorkflowNodeRun.of(run, item=None, input=given, **spent.of_node(run.node_id)._asdict())
    of_item = spent.items.get((run.node_id, run.item), NOTHING_KNOWN)
    return WorkflowNodeRun.of(run, input=given, **of_item._asdict())


def shown_execution(
    ctx: Context, execution: WorkflowExecution, runs: list[NodeRun], spent: SpentInside
) -> WorkflowExecutionOut:
    nodes = [shown_run(ctx, run, spent) for run in runs]
    return WorkflowExecutionOut.of(
        execution, execution_id=execution.id, nodes=nodes, redacted=UNSET, **spent.whole._asdict()
    )


def redacted_execution(shown: WorkflowExecutionOut) -> WorkflowExecutionOut:
    """Return the execution without inputs, outputs and error messages."""
    nodes = [
        msgspec.structs.replace(node, input=None, output=None, error=without_message(node.error))
        for node in shown.nodes
    ]
    return msgspec.structs.replace(
        shown, input=None, output=None, error=without_message(shown.error), nodes=nodes, redacted=True
    )


def shown_summary(
    execution: WorkflowExecution, spent: Spent, *, is_readable: bool
) -> WorkflowExecutionSummary:
    if is_readable:
        return WorkflowExecutionSummary.of(execution, redacted=UNSET, **spent._asdict())
    error = without_message(execution.error)
    return WorkflowExecutionSummary.of(execution, error=error, redacted=True, **spent._asdict())


def accepted(execution: WorkflowExecution) -> WorkflowExecutionAccepted:
    """Return the 202 response. Its status is always `pending`, even if the execution has already started."""
    return WorkflowExecutionAccepted.of(execution, execution_id=execution.id, status=RunStatus.pending)


class WorkflowRetry(Schema, kw_only=True):
    from_node: Id | None = None


class WorkflowScheduleCreate(Schema, kw_only=True):
    cron: Cron
    timezone: Timezone = "UTC"
    input: Any = msgspec.field(default_factory=dict)
    active: bool = True


class WorkflowScheduleUpdate(Schema, kw_only=True):
    cron: Cron | UnsetType = UNSET
    timezone: Timezone | UnsetType = UNSET
    input: Any = UNSET
    active: bool | UnsetType = UNSET


class SchedulePreviewRequest(Schema, kw_only=True):
    cron: Cron
    timezone: Timezone = "UTC"


class SchedulePreview(Schema, kw_only=True):
    words: str
    next_times: list[Instant]


class WorkflowScheduleOut(Schema, kw_only=True):
    id: str
    cron: str
    timezone: str
    input: Any
    active: bool
    next_run_at: Instant | None
    last_run_at: Instant | None
    created_at: Instant
