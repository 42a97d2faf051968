"""Public access to forms by their slug, without an account."""

from msgspec import UNSET

from retinue.files.models import File
from retinue.forms.after import daily_counts
from retinue.forms.errors import FormNotFound
from retinue.forms.form_settings import public_settings
from retinue.forms.intake import file_uploads, spam
from retinue.forms.intake.submit import submit as store
from retinue.forms.models import Form, FormStatus, Submission, SubmissionStatus
from retinue.forms.open_form import (
    OpenForm,
    load_by_slug,
    load_published,
    require_accepting,
    require_address_quota,
    require_quota,
)
from retinue.forms.schemas import PublicAnswer, PublicForm, PubliclySubmitted, Submit
from retinue.kit.context import Context
from retinue.kit.http.request import Request
from retinue.kit.http.uploads import FileLimit, FormData
from retinue.kit.ids import new_id


async def show(ctx: Context, slug: str, request: Request, *, is_preview: bool) -> PublicForm:
    """Return what a page needs to render the form; a view is counted unless it is a preview."""
    form = await load_published(ctx, slug, request)
    record = await _require_record(ctx, form)
    if not is_preview:
        daily_counts.count_view(ctx, form.id)
    token = spam.issue_token(ctx, form)
    return PublicForm.of(
        record, settings=public_settings(record.settings), token=UNSET if token is None else token
    )


async def fetch_published(ctx: Context, slug: str, request: Request) -> Form:
    return await _require_record(ctx, await load_published(ctx, slug, request))


async def _require_record(ctx: Context, form: OpenForm) -> Form:
    record = await ctx.db.get(Form, form.id)
    if record is None:
        raise FormNotFound
    return record


async def submit(ctx: Context, slug: str, body: Submit, request: Request) -> PublicAnswer:
    form = await load_by_slug(ctx, slug, request)
    require_accepting(ctx, form)
    await require_address_quota(ctx, request, f"form:{form.id}:submit", form.rules.limits.submit)
    await require_quota(ctx, request, f"form:{form.id}:total", form.rules.limits.total)
    if spam.is_honeypot_filled(form, body.data):
        # The same response as for a real submission, so that bots learn nothing.
        return _submitted_answer(form, new_id(Submission.__prefix__))
    spam.require_token_and_proof(ctx, form, body.token, body.proof)
    return _submitted_answer(form, (await store(ctx, form, body, source="public")).id)


def _submitted_answer(form: OpenForm, submission_id: str) -> PublicAnswer:
    rules = form.rules
    return PublicAnswer(
        data=PubliclySubmitted(
            submission_id=submission_id,
            status=SubmissionStatus.received,
            redirect_url=rules.redirect_url or UNSET,
        ),
        message=rules.success_message,
    )


async def admit_upload(ctx: Context, request: Request, form_slug: str) -> FileLimit:
    """Refuse an upload that the form does not accept before its bytes are read."""
    form = await load_published(ctx, form_slug, request)
    require_accepting(ctx, form)
    await require_address_quota(ctx, request, f"form:{form.id}:upload", form.rules.limits.upload)
    await file_uploads.require_upload_quota(ctx, form)
    return file_uploads.file_limit(form)


async def upload(ctx: Context, slug: str, sent: FormData, request: Request) -> File:
    form = await load_published(ctx, slug, request)
    require_accepting(ctx, form)
    return await file_uploads.upload(ctx, form, sent)


async def load_for_progress(ctx: Context, slug: str, request: Request) -> OpenForm:
    """Return the form for saving progress, which is allowed ten times as often as submitting."""
    form = await load_published(ctx, slug, request)
    assert form.status is FormStatus.published
    await require_address_quota(ctx, request, f"form:{form.id}:progress", 10 * form.rules.limits.submit)
    return form
