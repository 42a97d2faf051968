from typing import Any

from retinue.kit.events.declare import Event, event
from retinue.kit.json_types import JsonObject

_EXAMPLE = {"workflow_id": "wf_…", "name": "Qualify leads", "status": "published", "version": 3}
_EXECUTION = {
    "workflow_id": "wf_…",
    "execution_id": "wfx_…",
    "trigger": "form",
    "status": "running",
    "output": None,
    "error": None,
    "duration_ms": None,
}
_CONTENT = ("output", "error")


class WorkflowEvent(Event, kw_only=True):
    workflow_id: str
    name: str
    status: str
    version: int


@event(
    "workflow.created",
    subject="workflow_id",
    audited=True,
    example={**_EXAMPLE, "status": "draft", "version": 1},
)
class WorkflowCreated(WorkflowEvent, kw_only=True):
    """A workflow was created."""


@event("workflow.updated", subject="workflow_id", audited=True, example=_EXAMPLE)
class WorkflowUpdated(WorkflowEvent, kw_only=True):
    """A workflow was changed."""


@event("workflow.deleted", subject="workflow_id", audited=True, example=_EXAMPLE)
class WorkflowDeleted(WorkflowEvent, kw_only=True):
    """A workflow was deleted."""


@event("workflow.published", subject="workflow_id", audited=True, example=_EXAMPLE)
class WorkflowPublished(WorkflowEvent, kw_only=True):
    """A workflow was published."""


class WorkflowDraftEvent(Event, kw_only=True):
    workflow_id: str
    name: str


_DRAFT_EXAMPLE = {"workflow_id": "wf_…", "name": "Qualify leads"}


@event("system.workflow_draft.saved", subject="workflow_id", audited=True, example=_DRAFT_EXAMPLE)
class WorkflowDraftSaved(WorkflowDraftEvent, kw_only=True):
    """The draft of a workflow was saved; the workflow itself stays as it is."""


@event("system.workflow_draft.discarded", subject="workflow_id", audited=True, example=_DRAFT_EXAMPLE)
class WorkflowDraftDiscarded(WorkflowDraftEvent, kw_only=True):
    """The draft of a workflow was discarded without being published."""


class WorkflowExecutionEvent(Event, kw_only=True):
    workflow_id: str
    execution_id: str
    trigger: str
    status: str
    output: Any = None
    error: JsonObject | None = None
    duration_ms: int | None = None


@event("workflow.execution.started", subject="execution_id", content=_CONTENT, example=_EXECUTION)
class WorkflowExecutionStarted(WorkflowExecutionEvent, kw_only=True):
    """An execution of a workflow started."""


@event(
    "workflow.execution.completed",
    subject="execution_id",
    content=_CONTENT,
    example={**_EXECUTION, "status": "completed", "output": {"score": 80}, "duration_ms": 1240},
)
class WorkflowExecutionCompleted(WorkflowExecutionEvent, kw_only=True):
    """An execution of a workflow completed."""


@event(
    "workflow.execution.failed",
    subject="execution_id",
    content=_CONTENT,
    example={
        **_EXECUTION,
        "status": "failed",
        "error": {"code": "timeout", "message": "The destination did not answer in time."},
        "duration_ms": 30012,
    },
)
class WorkflowExecutionFailed(WorkflowExecutionEvent, kw_only=True):
    """An execution of a workflow failed, timed out or was cancelled, as `status` says."""


@event(
    "workflow.execution.node_completed",
    subject="execution_id",
    content=("output",),
    example={
        "workflow_id": "wf_…",
        "execution_id": "wfx_…",
        "node_id": "n1",
        "node_type": "tool",
        "status": "completed",
        "output": {"score": 80},
        "duration_ms": 310,
    },
)
class WorkflowNodeCompleted(Event, kw_only=True):
    """A node completed or failed, as `status` says; `output` is null after a failure or above 8 KiB."""

    workflow_id: str
    execution_id: str
    node_id: str
    node_type: str
    status: str
    output: Any = None
    duration_ms: int | None = None
