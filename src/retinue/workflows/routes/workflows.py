from functools import partial

from retinue.kit.context import Context
from retinue.kit.context.drafts import DraftOutdated
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery
from retinue.kit.schema.drafts import DraftPublication
from retinue.workflows import drafts, service
from retinue.workflows.engine.node_type import NODE_TYPES
from retinue.workflows.errors import WorkflowDraftNotFound, WorkflowVersionNotFound
from retinue.workflows.loaders import WorkflowById
from retinue.workflows.models import Workflow, WorkflowStatus
from retinue.workflows.queries import VERSIONS, WORKFLOWS, find_version
from retinue.workflows.schemas import (
    WorkflowContent,
    WorkflowCreate,
    WorkflowList,
    WorkflowNodeType,
    WorkflowOut,
    WorkflowState,
    WorkflowUpdate,
    WorkflowValidated,
    WorkflowVersionOut,
    render_workflow,
    shown_version,
)

routes = Routes("/api/v1/workflows", tag="workflows", wrap=True)

_READ, _WRITE = "workflows:read", "workflows:write"


@routes.get("", requires=_READ, wrap=False)
async def list_workflows(ctx: Context, query: WorkflowList) -> Page[WorkflowOut]:
    """Return the workflows of the tenant, by default newest first.

    Values of headers in nodes are masked for callers without `workflows:write`.
    """
    return (await WORKFLOWS.page(ctx.db, query)).to_page(partial(render_workflow, ctx))


@routes.post("", requires=_WRITE, status=201, versioned=Workflow)
async def create_workflow(ctx: Context, body: WorkflowCreate) -> WorkflowOut:
    """Create a workflow.

    A draft may be incomplete; with `status: "published"` it is validated like a publication, and problems
    answer 422.
    """
    return render_workflow(ctx, await service.create(ctx, body))


@routes.post("/validate", requires=_WRITE)
async def validate_workflow_content(ctx: Context, body: WorkflowContent) -> WorkflowValidated:
    """Check nodes and edges that need not be saved as publishing would, and return all problems.

    Nothing is stored or run. What depends on the workflow itself is not checked: its trigger, its settings
    and whether it would contain itself.
    """
    return await service.validate_content(ctx, body)


@routes.get("/node-types", requires=_READ, cached=True)
async def list_node_types(ctx: Context) -> list[WorkflowNodeType]:  # noqa: ARG001  every handler takes it
    """Return the types of nodes that a workflow can use, each with the JSON Schema of its `config`."""
    return [WorkflowNodeType.of(kind) for kind in NODE_TYPES.values()]


@routes.get("/{workflow_id}", requires=_READ, versioned=Workflow)
async def get_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowOut:
    """Return a workflow as it is stored now, which for a draft may differ from its latest version.

    Values of headers in nodes are masked for callers without `workflows:write`.
    """
    return render_workflow(ctx, workflow)


@routes.put("/{workflow_id}", requires=_WRITE, errors=(InvalidTransition,), versioned=Workflow)
async def update_workflow(ctx: Context, workflow: WorkflowById, body: WorkflowUpdate) -> WorkflowOut:
    """Change the fields that are sent.

    On a published workflow every change is validated and creates a new version, which later executions use;
    running executions continue with theirs.
    """
    return render_workflow(ctx, await service.update(ctx, workflow, body))


@routes.delete("/{workflow_id}", requires=_WRITE, status=204, versioned=Workflow)
async def delete_workflow(ctx: Context, workflow: WorkflowById) -> None:
    """Delete the workflow with its versions, schedules and executions.

    Executions that have not ended are cancelled.
    """
    await service.delete(ctx, workflow)


@routes.post(
    "/{workflow_id}/publish",
    requires=_WRITE,
    errors=(InvalidTransition, DraftOutdated, WorkflowDraftNotFound),
    versioned=Workflow,
)
async def publish_workflow(ctx: Context, workflow: WorkflowById, body: DraftPublication) -> WorkflowState:
    """Validate the workflow, or with `from_draft` what its draft says, and make it executable.

    Its trigger takes effect. Problems answer 422 with one message per path. A new version is created if the
    content differs from the latest one. Publishing again changes nothing; an archived workflow answers 409
    `invalid_transition`. If the workflow has changed since its draft was begun, the answer is 412
    `version_conflict` unless `force` is set. A draft that was published is gone.
    """
    return WorkflowState.of(await drafts.publish(ctx, workflow, body))


@routes.post("/{workflow_id}/unpublish", requires=_WRITE, versioned=Workflow)
async def unpublish_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowState:
    """Return a published or archived workflow to `draft`.

    Its trigger and schedules no longer start it; running executions continue.
    """
    return WorkflowState.of(await service.set_status(ctx, workflow, WorkflowStatus.draft))


@routes.post("/{workflow_id}/archive", requires=_WRITE, versioned=Workflow)
async def archive_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowState:
    """Archive a draft or published workflow.

    It can no longer be executed, and its trigger and schedules no longer start it; running executions
    continue.
    """
    return WorkflowState.of(await service.set_status(ctx, workflow, WorkflowStatus.archived))


@routes.post("/{workflow_id}/duplicate", requires=_WRITE, status=201, versioned=Workflow)
async def duplicate_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowOut:
    """Create a draft with the same content and `(copy)` after the name.

    Versions, schedules and executions are not copied.
    """
    return render_workflow(ctx, await service.duplicate(ctx, workflow))


@routes.post("/{workflow_id}/validate", requires=_READ)
async def validate_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowValidated:
    """Check the stored workflow as publishing would, and return what would prevent it.

    Nothing is changed.
    """
    return await service.validate(ctx, workflow)


@routes.get("/{workflow_id}/versions", requires=_READ, wrap=False)
async def list_workflow_versions(
    ctx: Context, workflow: WorkflowById, query: PageQuery
) -> Page[WorkflowVersionOut]:
    """Return the published versions, newest first. A version never changes."""
    return (await VERSIONS.page(ctx.db, query, workflow_id=workflow.id)).to_page(partial(shown_version, ctx))


@routes.get("/{workflow_id}/versions/{version}", requires=_READ, errors=(WorkflowVersionNotFound,))
async def get_workflow_version(ctx: Context, workflow: WorkflowById, version: str) -> WorkflowVersionOut:
    """Return one published version by its number."""
    number = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
    found = await find_version(ctx, workflow.id, number)
    if found is None:
        raise WorkflowVersionNotFound
    return shown_version(ctx, found)
