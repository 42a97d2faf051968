from retinue.kit.context import Context
from retinue.kit.context.drafts import Draft
from retinue.kit.http.preconditions import expected_tags
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.workflows import drafts
from retinue.workflows.loaders import WorkflowById
from retinue.workflows.models import Workflow
from retinue.workflows.schemas import WorkflowDraftOut, WorkflowDraftUpdate

routes = Routes("/api/v1/workflows/{workflow_id}/draft", tag="workflows", wrap=True)


def _tagged(ctx: Context, draft: Draft[Workflow]) -> Reply[WorkflowDraftOut]:
    return Reply(drafts.render_draft(ctx, draft), headers=(("ETag", draft.etag),))


@routes.get("", requires="workflows:read", handles_etag_itself=True)
async def get_workflow_draft(ctx: Context, workflow: WorkflowById) -> Reply[WorkflowDraftOut]:
    """Return the draft of the workflow: changes that are saved but not in use.

    Without a stored draft it is the workflow as it is now, with `is_stored: false`. Values of headers in
    nodes are masked for callers without `workflows:write`.
    """
    return _tagged(ctx, await drafts.load(ctx, workflow))


@routes.put("", requires="workflows:write", handles_etag_itself=True)
async def save_workflow_draft(
    ctx: Context, workflow: WorkflowById, body: WorkflowDraftUpdate, request: Request
) -> Reply[WorkflowDraftOut]:
    """Save the draft. The workflow in use stays as it is, and no version is made.

    Omitted fields of `content` keep what the draft says. The draft may be incomplete, as a workflow that is
    not published.
    """
    return _tagged(ctx, await drafts.save(ctx, workflow, body, expected_tags(request)))


@routes.delete("", requires="workflows:write", status=204, handles_etag_itself=True)
async def discard_workflow_draft(ctx: Context, workflow: WorkflowById, request: Request) -> None:
    """Discard the draft; the next one starts from the workflow as it is. Succeeds if there is none."""
    await drafts.discard(ctx, workflow, expected_tags(request))
