from retinue.adapters.blobs import BlobMissing
from retinue.files import service as files
from retinue.files.errors import FileNotFound, RangeNotSatisfiable
from retinue.forms import submissions
from retinue.forms.after import processing
from retinue.forms.errors import (
    AlreadySubmitted,
    FormClosed,
    FormNotPublished,
    SubmissionInvalid,
    SubmissionNotFound,
    TooManySubmissions,
)
from retinue.forms.intake import file_uploads
from retinue.forms.intake.submit import submit
from retinue.forms.loaders import FormById
from retinue.forms.models import SubmissionStatus
from retinue.forms.open_form import to_open_form
from retinue.forms.schemas import (
    SubmissionExportQuery,
    SubmissionList,
    SubmissionOut,
    SubmissionPage,
    SubmissionUpdate,
    Submit,
    SubmitAnswer,
    Submitted,
)
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
    over_limit=TooManySubmissions,
)
async def submit_form(ctx: Context, this: FormById, body: Submit) -> SubmitAnswer:
    """Submit a published form as the signed-in user.

    Files are uploaded first, through the public upload or as `POST /api/v1/files` with the purpose `form`.
    With `settings.one_per_user`, a second submission answers 409 `already_submitted`.
    """
    open_form = to_open_form(this)
    stored = await submit(ctx, open_form, body, source="api")
    answer = Submitted.of(stored, submission_id=stored.id, status=SubmissionStatus.received)
    return SubmitAnswer(data=answer, message=open_form.rules.success_message)


@routes.get("/submissions", requires="forms:read", wrap=False)
async def list_submissions(ctx: Context, this: FormById, query: SubmissionList) -> SubmissionPage:
    """List the submissions of a form, newest first by default.

    `search` matches words in the values by their beginning; every word must match.
    """
    return await submissions.page(ctx, this, query)


@routes.get("/submissions/export", requires="forms:read", cost="execute")
async def export_submissions(ctx: Context, this: FormById, query: SubmissionExportQuery) -> Reply[ByteStream]:
    """Download submissions as a file, oldest first.

    The file is streamed. Cells that a spreadsheet would run as a formula are escaped. Answers to fields that
    a later version removed follow after the current columns.
    """
    return await submissions.export(ctx, this, query)


@routes.get("/submissions/{submission_id}", requires="forms:read", errors=(SubmissionNotFound,))
async def get_submission(ctx: Context, this: FormById, submission_id: str) -> SubmissionOut:
    """Return a submission with its files and the state of the workflow it started."""
    return await submissions.render_submission(ctx, this, await submissions.fetch(ctx, this, submission_id))


@routes.patch(
    "/submissions/{submission_id}",
    requires="forms:write",
    errors=(SubmissionNotFound, InvalidTransition),
)
async def update_submission(
    ctx: Context, this: FormById, submission_id: str, body: SubmissionUpdate
) -> SubmissionOut:
    """Change the state or the notes of a submission. A change emits `form.submission.updated`."""
    submission = await submissions.fetch(ctx, this, submission_id)
    return await submissions.render_submission(
        ctx, this, await submissions.update(ctx, this, submission, body)
    )


@routes.post(
    "/submissions/{submission_id}/reprocess",
    requires="forms:write",
    status=202,
    errors=(SubmissionNotFound,),
)
async def reprocess_submission(ctx: Context, this: FormById, submission_id: str) -> SubmissionOut:
    """Retry what failed for a submission.

    That is the row of the data table, and a workflow execution that failed, was deleted or never started.
    Successful steps are not repeated.
    """
    submission = await submissions.fetch(ctx, this, submission_id)
    return await submissions.render_submission(ctx, this, await processing.reprocess(ctx, this, submission))


@routes.delete(
    "/submissions/{submission_id}", requires="forms:write", status=204, errors=(SubmissionNotFound,)
)
async def delete_submission(ctx: Context, this: FormById, submission_id: str) -> None:
    """Delete a submission and its files. A row that was copied to a data table stays."""
    await submissions.delete(ctx, await submissions.fetch(ctx, this, submission_id))


@routes.get(
    "/files/{form_file_id}",
    requires="forms:read",
    other_status=206,
    errors=(FileNotFound, BlobMissing, RangeNotSatisfiable),
)
async def get_form_file(ctx: Context, this: FormById, form_file_id: str, request: Request) -> Reply[Download]:
    """Download a file that was uploaded to the form, whether or not it was submitted.

    It is sent as an attachment; `Range` requests are supported.
    """
    return await files.serve(ctx, await file_uploads.fetch_file(ctx, this, form_file_id), request)
