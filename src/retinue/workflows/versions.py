"""Versions: an execution runs a stored version, never the workflow that is being edited."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.workflows import validation
from retinue.workflows.errors import WorkflowNotFound, WorkflowNotPublished
from retinue.workflows.models import Workflow, WorkflowStatus, WorkflowVersion
from retinue.workflows.queries import find_version

VERSIONED_FIELDS = ("name", "nodes", "edges", "input_schema", "settings")
"""Fields whose difference makes another version; a version keeps `ui` besides."""


async def store_version(
    ctx: Context, workflow: Workflow, version: int, *, is_draft: bool = False
) -> WorkflowVersion:
    stored = WorkflowVersion(
        workflow_id=workflow.id,
        version=version,
        is_draft=is_draft,
        created_by=ctx.principal.id,
        ui=workflow.ui,
        **{name: getattr(workflow, name) for name in VERSIONED_FIELDS},
    )
    return await ctx.db.insert(stored)


async def resolve_version(ctx: Context, workflow: Workflow, *, is_draft: bool = False) -> WorkflowVersion:
    """Return the published version, or for a draft run a version of the current content."""
    if workflow.status is WorkflowStatus.published:
        found = await find_version(ctx, workflow.id, workflow.version)
        if found is None:  # deleted with its versions since it was read
            raise WorkflowNotFound
        return found
    if not is_draft:
        raise WorkflowNotPublished
    problems = await validation.problems_of(ctx, workflow)
    if problems:
        raise Invalid(problems)
    return await store_version(ctx, workflow, workflow.version, is_draft=True)
