"""The outside's way into a form: no account, only its slug."""

from msgspec import UNSET

from retinue.files.models import File
from retinue.forms import counting, spam, uploading
from retinue.forms.configuring import public_settings
from retinue.forms.errors import FormNotFound
from retinue.forms.models import Form, FormStatus, Submission, SubmissionStatus
from retinue.forms.opening import OpenForm, charge, hit, open_published, open_slug, require_open
from retinue.forms.schemas import PublicAnswer, PublicForm, PubliclySubmitted, Submit
from retinue.forms.submitting import submit as store
from retinue.kit.context import Context
from retinue.kit.http.request import Request
from retinue.kit.http.uploads import FormData
from retinue.kit.ids import new_id


async def show(ctx: Context, slug: str, request: Request, *, is_preview: bool) -> PublicForm:
    """What a page needs to ask; a view is counted unless it is a preview."""
    form = await open_published(ctx, slug, request)
    record = await _fetch(ctx, form)
    if not is_preview:
        counting.count_view(ctx, form.id)
    token = spam.token_of(ctx, form)
    return PublicForm.of(
        record, settings=public_settings(record.settings), token=UNSET if token is None else token
    )


async def fetch_published(ctx: Context, slug: str, request: Request) -> Form:
    return await _fetch(ctx, await open_published(ctx, slug, request))


async def _fetch(ctx: Context, form: OpenForm) -> Form:
    record = await ctx.db.get(Form, form.id)
    if record is None:
        raise FormNotFound
    return record


async def submit(ctx: Context, slug: str, body: Submit, request: Request) -> PublicAnswer:
    form = await open_slug(ctx, slug, request)
    require_open(ctx, form)
    await charge(ctx, request, f"form:{form.id}:submit", form.rules.limits.submit)
    await hit(ctx, request, f"form:{form.id}:total", form.rules.limits.total)
    if spam.is_trapped(form, body.data):
        # Whoever fell for it learns nothing from the answer.
        return _answer(form, new_id(Submission.__prefix__))
    spam.require_patience(ctx, form, body.token, body.proof)
    return _answer(form, (await store(ctx, form, body, source="public")).id)


def _answer(form: OpenForm, submission_id: str) -> PublicAnswer:
    rules = form.rules
    return PublicAnswer(
        data=PubliclySubmitted(
            submission_id=submission_id,
            status=SubmissionStatus.received,
            redirect_url=rules.redirect_url or UNSET,
        ),
        message=rules.success_message,
    )


async def upload(ctx: Context, slug: str, sent: FormData, request: Request) -> File:
    form = await open_published(ctx, slug, request)
    require_open(ctx, form)
    await charge(ctx, request, f"form:{form.id}:upload", form.rules.limits.upload)
    return await uploading.upload(ctx, form, sent)


async def saving(ctx: Context, slug: str, request: Request) -> OpenForm:
    """The form, for whoever saves answers that are not sent yet; as often as one may submit, ten times."""
    form = await open_published(ctx, slug, request)
    assert form.status is FormStatus.published
    await charge(ctx, request, f"form:{form.id}:progress", 10 * form.rules.limits.submit)
    return form
