"""Drafts: changes of a form that are edited and tried before they replace what is in use."""

import msgspec

from retinue.forms import service
from retinue.forms.errors import FormDraftNotFound
from retinue.forms.events import FormDraftDiscarded, FormDraftEvent, FormDraftSaved
from retinue.forms.models import Form, FormDraft, FormStatus
from retinue.forms.schemas import FormDraftContent, FormDraftOut, FormDraftUpdate, FormState, FormUpdate
from retinue.kit.context import Context
from retinue.kit.context.drafts import Draft, Drafts
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.drafts import DraftPublication

_DRAFTS = Drafts[Form](FormDraft, service.CONTENT_FIELDS)


async def load(ctx: Context, form: Form) -> Draft[Form]:
    return await _DRAFTS.load(ctx, form)


def render_draft(draft: Draft[Form]) -> FormDraftOut:
    content = msgspec.convert(draft.content, FormDraftContent)
    return FormDraftOut.of(draft, form_id=draft.owner.id, content=content)


async def save(
    ctx: Context, form: Form, body: FormDraftUpdate, expected: frozenset[str] | None
) -> Draft[Form]:
    """Store the draft; the form stays as it is, and no version is made."""
    draft = await _lock(ctx, form, expected)
    changes = service.read_changes(ctx, sent_fields(body.content))
    saved = await _DRAFTS.save(ctx, draft, {**draft.content, **changes})
    _emit(ctx, FormDraftSaved, saved)
    return saved


async def discard(ctx: Context, form: Form, expected: frozenset[str] | None) -> None:
    """Delete the draft; does nothing if there is none."""
    draft = await _lock(ctx, form, expected)
    if draft.is_stored:
        await _DRAFTS.discard(ctx, draft)
        _emit(ctx, FormDraftDiscarded, draft)


async def publish(ctx: Context, form: Form, body: DraftPublication) -> FormState:
    """Publish the form, with its draft if that is asked for."""
    if not body.from_draft:
        return await service.change_status(ctx, form, FormStatus.published)
    draft = await _lock(ctx, form, None)
    if not draft.is_stored:
        raise FormDraftNotFound
    if not body.force:
        draft.require_current()
    await _DRAFTS.discard(ctx, draft)
    updated = await service.update(ctx, draft.owner, msgspec.convert(draft.content, FormUpdate))
    return await service.change_status(ctx, updated, FormStatus.published)


async def _lock(ctx: Context, form: Form, expected: frozenset[str] | None) -> Draft[Form]:
    draft = await load(ctx, await service.lock_form(ctx, form.id))
    draft.require_seen(expected)
    return draft


def _emit(ctx: Context, kind: type[FormDraftEvent], draft: Draft[Form]) -> None:
    ctx.emit(kind(form_id=draft.owner.id, name=draft.owner.name))
