from retinue.forms import options, progress, public
from retinue.forms.errors import (
    FieldNotFound,
    FormClosed,
    FormNotFound,
    FormNotPublished,
    SubmissionInvalid,
    SubmissionNotFound,
    TooManySubmissions,
)
from retinue.forms.opening import open_published
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
from retinue.forms.snippets import snippets
from retinue.forms.uploading import LARGEST
from retinue.kit.context import Context
from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes, Upload
from retinue.kit.http.uploads import FormData

routes = Routes("/api/v1/public/forms/{form_slug}", tag="public forms", wrap=True)


@routes.get("", requires=PUBLIC, errors=(FormNotFound,))
async def show_public_form(ctx: Context, form_slug: str, query: PublicQuery, request: Request) -> PublicForm:
    return await public.show(ctx, form_slug, request, is_preview=query.preview is not None)


@routes.post(
    "/submit",
    requires=PUBLIC,
    status=201,
    wrap=False,
    calls_out=True,
    errors=(SubmissionInvalid, FormNotFound, FormNotPublished, FormClosed, TooManySubmissions),
)
async def submit_public_form(ctx: Context, form_slug: str, body: Submit, request: Request) -> PublicAnswer:
    return await public.submit(ctx, form_slug, body, request)


@routes.post(
    "/upload",
    requires=PUBLIC,
    status=201,
    calls_out=True,
    upload=Upload(max_file=LARGEST, texts=("field_id",)),
    errors=(FormNotFound, FieldNotFound, FormClosed, UnsupportedFileType, TooManySubmissions),
)
async def upload_public_file(ctx: Context, form_slug: str, form: FormData, request: Request) -> Uploaded:
    """A file for the field `field_id`; its `file_id` is then the field's answer, within a day."""
    stored = await public.upload(ctx, form_slug, form, request)
    return Uploaded.of(stored, file_id=stored.id)


@routes.get("/embed", requires=PUBLIC, errors=(FormNotFound,))
async def get_form_snippets(ctx: Context, form_slug: str, request: Request) -> Embedding:
    return snippets(ctx, await open_published(ctx, form_slug, request))


@routes.get("/fields/{field_id}/options", requires=PUBLIC, errors=(FormNotFound, FieldNotFound))
async def list_public_options(
    ctx: Context, form_slug: str, field_id: str, query: OptionsQuery, request: Request
) -> list[Option]:
    form = await open_published(ctx, form_slug, request)
    return await options.options(ctx, form, field_id, query)


@routes.put(
    "/progress/{progress_id}", requires=PUBLIC, calls_out=True, errors=(FormNotFound, TooManySubmissions)
)
async def save_progress(
    ctx: Context, form_slug: str, progress_id: str, body: ProgressSave, request: Request
) -> ProgressSaved:
    """Answers so far, for whoever comes back with the same id within a week."""
    form = await public.saving(ctx, form_slug, request)
    return await progress.save(ctx, form, progress_id, body)


@routes.get("/progress/{progress_id}", requires=PUBLIC, errors=(FormNotFound, SubmissionNotFound))
async def resume_progress(ctx: Context, form_slug: str, progress_id: str, request: Request) -> ProgressOut:
    return await progress.resume(ctx, await public.saving(ctx, form_slug, request), progress_id)
