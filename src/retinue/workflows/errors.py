from retinue.kit.errors import Conflict, NotFound, RateLimited


class WorkflowNotFound(NotFound):
    """There is no such workflow."""

    code = "workflow_not_found"


class WorkflowVersionNotFound(NotFound):
    """There is no such version."""

    code = "version_not_found"


class ExecutionNotFound(NotFound):
    """There is no such execution."""

    code = "execution_not_found"


class ScheduleNotFound(NotFound):
    """There is no such schedule."""

    code = "schedule_not_found"


class WorkflowNotPublished(Conflict):
    """The workflow is not published."""

    code = "workflow_not_published"


class TooDeep(Conflict):
    """Workflows start each other too deep."""

    code = "workflow_too_deep"


class TooManySchedules(Conflict):
    """This workflow has as many schedules as it can have."""

    code = "too_many_schedules"


class TooManyExecutions(RateLimited):
    """Too many workflows are running at this moment."""
