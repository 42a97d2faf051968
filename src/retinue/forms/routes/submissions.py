from retinue.adapters.blobs import BlobMissing
from retinue.files import service as files
from retinue.files.errors import FileNotFound, RangeNotSatisfiable
from retinue.forms import processing, submissions, uploading
from retinue.forms.errors import (
    AlreadySubmitted,
    FormClosed,
    FormNotPublished,
    SubmissionInvalid,
    SubmissionNotFound,
)
from retinue.forms.loaders import FormById
from retinue.forms.models import SubmissionStatus
from retinue.forms.opening import opened
from retinue.forms.schemas import (
    ExportQuery,
    SubmissionList,
    SubmissionOut,
    SubmissionPage,
    SubmissionUpdate,
    Submit,
    SubmitAnswer,
    Submitted,
)
from retinue.forms.submitting import submit
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.replies import ByteStream, Download, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/forms/{form_id}", tag="forms", wrap=True)


@routes.post(
    "/submit",
    requires="forms:submit",
    status=201,
    wrap=False,
    errors=(SubmissionInvalid, FormNotPublished, FormClosed, AlreadySubmitted),
)
async def submit_form(ctx: Context, this: FormById, body: Submit) -> SubmitAnswer:
    is_open = opened(this)
    stored = await submit(ctx, is_open, body, source="api")
    answer = Submitted.of(stored, submission_id=stored.id, status=SubmissionStatus.received)
    return SubmitAnswer(data=answer, message=is_open.rules.success_message)


@routes.get("/submissions", requires="forms:read", wrap=False)
async def list_submissions(ctx: Context, this: FormById, query: SubmissionList) -> SubmissionPage:
    """`search` finds words in the values by their beginnings; every word must be there."""
    return await submissions.page(ctx, this, query)


@routes.get("/submissions/export", requires="forms:read", cost="execute")
async def export_submissions(ctx: Context, this: FormById, query: ExportQuery) -> Reply[ByteStream]:
    """A file that is made while it is sent; no cell of it is a formula."""
    return submissions.export(ctx, this, query)


@routes.get("/submissions/{submission_id}", requires="forms:read", errors=(SubmissionNotFound,))
async def get_submission(ctx: Context, this: FormById, submission_id: str) -> SubmissionOut:
    return await submissions.shown(ctx, this, await submissions.fetch(ctx, this, submission_id))


@routes.patch(
    "/submissions/{submission_id}",
    requires="forms:write",
    errors=(SubmissionNotFound, InvalidTransition),
)
async def update_submission(
    ctx: Context, this: FormById, submission_id: str, body: SubmissionUpdate
) -> SubmissionOut:
    found = await submissions.fetch(ctx, this, submission_id)
    return await submissions.shown(ctx, this, await submissions.update(ctx, this, found, body))


@routes.post(
    "/submissions/{submission_id}/reprocess",
    requires="forms:write",
    status=202,
    errors=(SubmissionNotFound,),
)
async def reprocess_submission(ctx: Context, this: FormById, submission_id: str) -> SubmissionOut:
    """Try again to store its row and to run its workflow, where that did not end well."""
    found = await submissions.fetch(ctx, this, submission_id)
    return await submissions.shown(ctx, this, await processing.reprocess(ctx, this, found))


@routes.delete(
    "/submissions/{submission_id}", requires="forms:write", status=204, errors=(SubmissionNotFound,)
)
async def delete_submission(ctx: Context, this: FormById, submission_id: str) -> None:
    await submissions.delete(ctx, await submissions.fetch(ctx, this, submission_id))


@routes.get(
    "/files/{form_file_id}",
    requires="forms:read",
    other_status=206,
    errors=(FileNotFound, BlobMissing, RangeNotSatisfiable),
)
async def get_form_file(ctx: Context, this: FormById, form_file_id: str, request: Request) -> Reply[Download]:
    return await files.serve(ctx, await uploading.fetch_file(ctx, this, form_file_id), request)
