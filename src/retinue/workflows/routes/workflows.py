from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery
from retinue.workflows import service
from retinue.workflows.errors import WorkflowVersionNotFound
from retinue.workflows.loaders import WorkflowById
from retinue.workflows.models import WorkflowStatus
from retinue.workflows.node_types import NODE_TYPES
from retinue.workflows.queries import VERSIONS, WORKFLOWS, find_version
from retinue.workflows.schemas import (
    WorkflowCreate,
    WorkflowList,
    WorkflowNodeType,
    WorkflowOut,
    WorkflowState,
    WorkflowUpdate,
    WorkflowValidated,
    WorkflowVersionOut,
    shown,
    shown_version,
)

routes = Routes("/api/v1/workflows", tag="workflows", wrap=True)

_READ, _WRITE = "workflows:read", "workflows:write"


@routes.get("", requires=_READ, wrap=False)
async def list_workflows(ctx: Context, query: WorkflowList) -> Page[WorkflowOut]:
    return (await WORKFLOWS.page(ctx.db, query)).shown(shown)


@routes.post("", requires=_WRITE, status=201)
async def create_workflow(ctx: Context, body: WorkflowCreate) -> WorkflowOut:
    """A draft may have gaps; with `status: "published"` it is checked as if it were published."""
    return shown(await service.create(ctx, body))


@routes.get("/node-types", requires=_READ)
async def list_node_types(ctx: Context) -> list[WorkflowNodeType]:  # noqa: ARG001  every handler takes it
    return [WorkflowNodeType.of(kind) for kind in NODE_TYPES.values()]


@routes.get("/{workflow_id}", requires=_READ)
async def get_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowOut:  # noqa: ARG001  every handler takes it
    return shown(workflow)


@routes.put("/{workflow_id}", requires=_WRITE, errors=(InvalidTransition,))
async def update_workflow(ctx: Context, workflow: WorkflowById, body: WorkflowUpdate) -> WorkflowOut:
    """Of a published workflow this makes a new version; what runs already goes on with its own."""
    return shown(await service.update(ctx, workflow, body))


@routes.delete("/{workflow_id}", requires=_WRITE, status=204)
async def delete_workflow(ctx: Context, workflow: WorkflowById) -> None:
    """Removes its executions as well; those that still run are cancelled."""
    await service.delete(ctx, workflow)


@routes.post("/{workflow_id}/publish", requires=_WRITE, errors=(InvalidTransition,))
async def publish_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowState:
    return WorkflowState.of(await service.enter(ctx, workflow, WorkflowStatus.published))


@routes.post("/{workflow_id}/unpublish", requires=_WRITE)
async def unpublish_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowState:
    """Also takes it out of the archive."""
    return WorkflowState.of(await service.enter(ctx, workflow, WorkflowStatus.draft))


@routes.post("/{workflow_id}/archive", requires=_WRITE)
async def archive_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowState:
    return WorkflowState.of(await service.enter(ctx, workflow, WorkflowStatus.archived))


@routes.post("/{workflow_id}/duplicate", requires=_WRITE, status=201)
async def duplicate_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowOut:
    return shown(await service.duplicate(ctx, workflow))


@routes.post("/{workflow_id}/validate", requires=_READ)
async def validate_workflow(ctx: Context, workflow: WorkflowById) -> WorkflowValidated:
    """What would keep it from being published."""
    return await service.validate(ctx, workflow)


@routes.get("/{workflow_id}/versions", requires=_READ, wrap=False)
async def list_workflow_versions(
    ctx: Context, workflow: WorkflowById, query: PageQuery
) -> Page[WorkflowVersionOut]:
    """Newest first."""
    return (await VERSIONS.page(ctx.db, query, workflow_id=workflow.id)).shown(shown_version)


@routes.get("/{workflow_id}/versions/{version}", requires=_READ, errors=(WorkflowVersionNotFound,))
async def get_workflow_version(ctx: Context, workflow: WorkflowById, version: str) -> WorkflowVersionOut:
    number = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
    found = await find_version(ctx, workflow.id, number)
    if found is None:
        raise WorkflowVersionNotFound
    return shown_version(found)
