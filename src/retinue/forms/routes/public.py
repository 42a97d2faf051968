from retinue.forms.errors import (
    FieldNotFound,
    FormClosed,
    FormNotFound,
    FormNotPublished,
    SubmissionInvalid,
    SubmissionNotFound,
    TooManySubmissions,
)
from retinue.forms.intake import options, progress, public
from retinue.forms.intake.file_uploads import MAX_FILE_BYTES
from retinue.forms.open_form import load_published
from retinue.forms.pages.snippets import render_snippets
from retinue.forms.schemas import (
    Embedding,
    Option,
    OptionsQuery,
    ProgressOut,
    ProgressSave,
    ProgressSaved,
    PublicAnswer,
    PublicForm,
    PublicQuery,
    Submit,
    Uploaded,
)
from retinue.kit.context import Context
from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes, Upload
from retinue.kit.http.uploads import FormData

routes = Routes("/api/v1/public/forms/{form_slug}", tag="public forms", wrap=True)


@routes.get("", requires=PUBLIC, errors=(FormNotFound,))
async def show_public_form(ctx: Context, form_slug: str, query: PublicQuery, request: Request) -> PublicForm:
    """Return what a client needs to render a published form.

    Counts a view unless `preview` is given. Draft and archived forms answer 404.
    """
    return await public.show(ctx, form_slug, request, is_preview=query.preview is not None)


@routes.post(
    "/submit",
    requires=PUBLIC,
    status=201,
    wrap=False,
    calls_out=True,
    errors=(SubmissionInvalid, FormNotFound, FormNotPublished, FormClosed),
    over_limit=TooManySubmissions,
)
async def submit_public_form(ctx: Context, form_slug: str, body: Submit, request: Request) -> PublicAnswer:
    """Store a visitor's answers and start the form's processing.

    Files are uploaded first and named by their `file_id`. A draft or archived form answers 409
    `form_not_published`; one past `close_at` or `submit_limit` answers 409 `form_closed`. Submissions that
    fill in the honeypot get the same response, but are not stored. By default, 60 submissions per minute and
    network address are accepted.
    """
    return await public.submit(ctx, form_slug, body, request)


@routes.post(
    "/upload",
    requires=PUBLIC,
    status=201,
    calls_out=True,
    upload=Upload(max_file=MAX_FILE_BYTES, texts=("field_id",), admit=public.admit_upload),
    errors=(FormNotFound, FieldNotFound, FormClosed, UnsupportedFileType, TooManySubmissions),
)
async def upload_public_file(ctx: Context, form_slug: str, form: FormData, request: Request) -> Uploaded:
    """Upload a file for one file field of a published form.

    Put the returned `file_id` into the submission as the value of that field within 24 hours; after that the
    file is deleted.
    """
    stored = await public.upload(ctx, form_slug, form, request)
    return Uploaded.of(stored, file_id=stored.id)


@routes.get("/embed", requires=PUBLIC, errors=(FormNotFound,))
async def get_form_snippets(ctx: Context, form_slug: str, request: Request) -> Embedding:
    """Return HTML snippets that embed a published form in another site."""
    return render_snippets(ctx, await load_published(ctx, form_slug, request))


@routes.get("/fields/{field_id}/options", requires=PUBLIC, errors=(FormNotFound, FieldNotFound))
async def list_public_options(
    ctx: Context, form_slug: str, field_id: str, query: OptionsQuery, request: Request
) -> list[Option]:
    """Return the options of a field of a published form.

    They come from the field's data table, or from its own `options` if it has no data source. If the table or
    column no longer exists, the list is empty.
    """
    form = await load_published(ctx, form_slug, request)
    return await options.list_options(ctx, form, field_id, query)


@routes.put(
    "/progress/{progress_id}", requires=PUBLIC, calls_out=True, errors=(FormNotFound, TooManySubmissions)
)
async def save_progress(
    ctx: Context, form_slug: str, progress_id: str, body: ProgressSave, request: Request
) -> ProgressSaved:
    """Save unfinished answers so that the visitor can resume later.

    The first save counts as a start in the analytics. Answers that are not changed for seven days are
    deleted.
    """
    form = await public.load_for_progress(ctx, form_slug, request)
    return await progress.save(ctx, form, progress_id, body)


@routes.get("/progress/{progress_id}", requires=PUBLIC, errors=(FormNotFound, SubmissionNotFound))
async def resume_progress(ctx: Context, form_slug: str, progress_id: str, request: Request) -> ProgressOut:
    """Return unfinished answers that were saved under this key.

    Answers 404 if there are none, for example because they were submitted since.
    """
    return await progress.resume(ctx, await public.load_for_progress(ctx, form_slug, request), progress_id)
