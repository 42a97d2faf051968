"""Drafts: changes of a workflow that are edited and checked before they replace what is in use."""

import msgspec

from retinue.kit.context import Context
from retinue.kit.context.drafts import Draft, Drafts
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.drafts import DraftPublication
from retinue.kit.text.header_masks import mask_config_headers
from retinue.workflows import service
from retinue.workflows.errors import WorkflowDraftNotFound
from retinue.workflows.events import WorkflowDraftDiscarded, WorkflowDraftEvent, WorkflowDraftSaved
from retinue.workflows.models import Workflow, WorkflowDraft, WorkflowStatus
from retinue.workflows.schemas import (
    WorkflowDraftContent,
    WorkflowDraftOut,
    WorkflowDraftUpdate,
    WorkflowUpdate,
)

_DRAFTS = Drafts[Workflow](WorkflowDraft, service.CONTENT_FIELDS, cosmetic=("ui",))


async def load(ctx: Context, workflow: Workflow) -> Draft[Workflow]:
    return await _DRAFTS.load(ctx, workflow)


def render_draft(ctx: Context, draft: Draft[Workflow]) -> WorkflowDraftOut:
    shown = {
        **draft.content,
        "nodes": mask_config_headers(ctx.principal, draft.content["nodes"], "workflows:write"),
    }
    content = msgspec.convert(shown, WorkflowDraftContent)
    return WorkflowDraftOut.of(draft, workflow_id=draft.owner.id, content=content)


async def save(
    ctx: Context, workflow: Workflow, body: WorkflowDraftUpdate, expected: frozenset[str] | None
) -> Draft[Workflow]:
    """Store the draft; the workflow stays as it is, and no version is made."""
    draft = await _lock(ctx, workflow, expected)
    changes = await service.read_changes(ctx, sent_fields(body.content), draft.content)
    saved = await _DRAFTS.save(ctx, draft, {**draft.content, **changes})
    _emit(ctx, WorkflowDraftSaved, saved)
    return saved


async def discard(ctx: Context, workflow: Workflow, expected: frozenset[str] | None) -> None:
    """Delete the draft; does nothing if there is none."""
    draft = await _lock(ctx, workflow, expected)
    if draft.is_stored:
        await _DRAFTS.discard(ctx, draft)
        _emit(ctx, WorkflowDraftDiscarded, draft)


async def publish(ctx: Context, workflow: Workflow, body: DraftPublication) -> Workflow:
    """Publish the workflow, with its draft if that is asked for."""
    if not body.from_draft:
        return await service.set_status(ctx, workflow, WorkflowStatus.published)
    draft = await _lock(ctx, workflow, None)
    if not draft.is_stored:
        raise WorkflowDraftNotFound
    if not body.force:
        draft.require_current()
    await _DRAFTS.discard(ctx, draft)
    update = msgspec.convert({**draft.content, "status": WorkflowStatus.published}, WorkflowUpdate)
    return await service.update(ctx, draft.owner, update)


async def _lock(ctx: Context, workflow: Workflow, expected: frozenset[str] | None) -> Draft[Workflow]:
    draft = await load(ctx, await service.lock_workflow(ctx, workflow.id))
    draft.require_seen(expected)
    return draft


def _emit(ctx: Context, kind: type[WorkflowDraftEvent], draft: Draft[Workflow]) -> None:
    ctx.emit(kind(workflow_id=draft.owner.id, name=draft.owner.name))
