from retinue.kit.errors import Conflict, InternalError, NotFound, RateLimited, RetinueError


class WorkflowNotFound(NotFound):
    """There is no such workflow."""

    code = "workflow_not_found"


class WorkflowVersionNotFound(NotFound):
    """There is no such version."""

    code = "version_not_found"


class WorkflowDraftNotFound(NotFound):
    """The workflow has no draft. Save one first, or use the workflow as it is."""

    code = "draft_not_found"


class WorkflowExecutionNotFound(NotFound):
    """There is no such execution."""

    code = "execution_not_found"


class ScheduleNotFound(NotFound):
    """There is no such schedule."""

    code = "schedule_not_found"


class WorkflowNotPublished(Conflict):
    """The workflow is not published. Publish it first."""

    code = "workflow_not_published"


class WorkflowGenerationFailed(RetinueError):
    """The model did not return anything usable. Try again, or choose another model."""

    status, code = 502, "model_error"


class TooManyRuns(InternalError):
    """An execution can start at most 1,000 others, also indirectly. Split the work, or break the cycle."""

    status, code = 409, "too_many_runs"
    shown_in = "workflow executions, tool executions"


class TooManySchedules(Conflict):
    """The workflow has reached its limit of 20 schedules. Delete one first."""

    code = "too_many_schedules"


class TooManyExecutions(RateLimited):
    """Too many workflows are running. Try again in a few seconds."""


NODE_CODES = {
    "account_inactive": "The account that the workflow runs for is not active.",
    "agent_not_found": "There is no such agent.",
    "approval_cancelled": "The approval was cancelled.",
    "approval_rejected": "The approval was rejected, and no edge handles that.",
    "approval_timeout": "Nobody decided the approval in time.",
    "cancelled": "The execution, or what it waited for, was cancelled.",
    "forbidden": "The account that the workflow runs for lacks a permission.",
    "http_error": "The destination answered with an error status.",
    "internal_error": "The node failed unexpectedly.",
    "invalid_config": "A value of the node's configuration is not valid after its templates are filled in.",
    "invalid_delay": "The delay is neither a number nor a moment, or is longer than a year.",
    "invalid_event": "The event has no valid name, or its data is no object.",
    "invalid_input": "The input of the tool is not an object.",
    "invalid_items": "The items of the loop are not a list.",
    "invalid_message": "The message to the agent is empty or too long.",
    "network_error": "The destination could not be reached.",
    "output_too_large": "The output of the node is larger than 1 MiB.",
    "sub_workflow_failed": "The workflow that the node started did not complete.",
    "template_too_large": "The node's filled-in templates are larger than allowed, or nested too deeply.",
    "timeout": "The node or the execution took longer than allowed.",
    "too_many_items": "The loop has more items than allowed.",
    "tool_not_found": "There is no such tool.",
    "workflow_not_found": "There is no such workflow.",
}
"""The codes of failed nodes and executions. A node also shows the codes of the tool or agent it used."""
