"""Submissions for the form's owners: list, update, delete, export."""

from collections.abc import AsyncIterator, Iterable

from msgspec import UNSET

from retinue.forms.after import daily_counts, processing, search_index
from retinue.forms.errors import SubmissionNotFound
from retinue.forms.intake import file_uploads
from retinue.forms.models import Form, FormVersion, Submission, SubmissionStatus
from retinue.forms.queries import find_submission, iterate_submissions, page_of_submissions
from retinue.forms.schemas import (
    FormExecutionOut,
    SubmissionExportQuery,
    SubmissionList,
    SubmissionOut,
    SubmissionPage,
    SubmissionPagination,
    SubmissionUpdate,
)
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.replies import ByteStream, Reply
from retinue.kit.http.routing import is_plausible_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.fields import STATIC, FieldType
from retinue.tables.transfers import exports
from retinue.workflows.models import WorkflowExecution
from retinue.workflows.read_access import may_read

_SUBMISSION_COLUMNS = ("id", "status", "created_at", "processed_at", "form_version", "source")

_ALLOWED_TRANSITIONS = {
    SubmissionStatus.received: (SubmissionStatus.processed, SubmissionStatus.archived),
    SubmissionStatus.processed: (SubmissionStatus.archived, SubmissionStatus.received),
    SubmissionStatus.archived: (SubmissionStatus.received, SubmissionStatus.processed),
}


async def page(ctx: Context, form: Form, query: SubmissionList) -> SubmissionPage:
    result = await page_of_submissions(ctx, form, query)
    pages = -(-result.total // result.per_page)
    return SubmissionPage(
        [SubmissionOut.from_record(submission, form) for submission in result.items],
        SubmissionPagination(result.page, result.per_page, result.total, pages),
    )


async def fetch(ctx: Context, form: Form, submission_id: str) -> Submission:
    submission = await find_submission(ctx, form, submission_id) if is_plausible_id(submission_id) else None
    if submission is None:
        raise SubmissionNotFound
    return submission


async def render_submission(ctx: Context, form: Form, submission: Submission) -> SubmissionOut:
    return SubmissionOut.from_record(submission, form, await _execution(ctx, submission))


async def _execution(ctx: Context, submission: Submission) -> FormExecutionOut | None:
    if submission.workflow_execution_id is None:
        return None
    execution = await ctx.db.get(WorkflowExecution, submission.workflow_execution_id)
    if execution is None:
        return None
    if await may_read(ctx, execution):
        return FormExecutionOut.of(execution, redacted=UNSET)
    return FormExecutionOut.of(execution, output=None, redacted=True)


async def update(ctx: Context, form: Form, submission: Submission, body: SubmissionUpdate) -> Submission:
    locked = await _lock_submission(ctx, submission)
    before, sent = locked.status, sent_fields(body)
    status = sent.get("status", before)
    if status is not before and status not in _ALLOWED_TRANSITIONS[before]:
        raise InvalidTransition(
            before.value, status.value, [allowed.value for allowed in _ALLOWED_TRANSITIONS[before]]
        )
    if "notes" in sent and sent["notes"] != locked.notes:
        await ctx.db.update(locked, notes=sent["notes"])
        if status is before:
            processing.emit_updated(ctx, form.name, locked, before)
    if status is not before:
        await processing.change_status(ctx, form, locked, status)
    return locked


async def _lock_submission(ctx: Context, submission: Submission) -> Submission:
    locked = await ctx.db.lock(Submission, submission.id)
    if locked is None:
        raise SubmissionNotFound
    return locked


async def delete(ctx: Context, submission: Submission) -> None:
    """Delete a submission and its files; the bytes are deleted after the commit."""
    locked = await _lock_submission(ctx, submission)
    await file_uploads.remove_files(ctx, [file.file_id for file in locked.files])
    await daily_counts.uncount_submission(ctx, locked)
    await search_index.remove_submission(ctx, locked)
    await ctx.db.delete(locked)


async def export(ctx: Context, form: Form, query: SubmissionExportQuery) -> Reply[ByteStream]:
    """Return a streamed file; fields that a later version removed follow after the others."""
    versions = await ctx.db.all(FormVersion, form_id=form.id, order_by=("-version",))
    columns = _answer_columns([form.fields, *(version.fields for version in versions)])
    rows = _rows(ctx.detached(), form, query, columns)
    chunks = exports.export_rows(rows, query.format, [*_SUBMISSION_COLUMNS, *columns])
    name = ("Content-Disposition", f'attachment; filename="{form.slug}.{query.format}"')
    return Reply(ByteStream(chunks, exports.MIME_TYPES[query.format]), headers=(name,))


def _answer_columns(versions: Iterable[list[JsonObject]]) -> dict[str, str]:
    """Return the field id for each answer column: current fields first, then removed ones.

    A field named like a system column is prefixed with `data.`.
    """
    columns: dict[str, str] = {}
    for fields in versions:
        for field in fields:
            if FieldType(field["type"]) in STATIC:
                continue
            column = id = field["id"]
            while column in _SUBMISSION_COLUMNS or columns.get(column, id) != id:
                column = f"data.{column}"
            columns[column] = id
    return columns


async def _rows(
    ctx: Context, form: Form, query: SubmissionExportQuery, columns: dict[str, str]
) -> AsyncIterator[list[JsonObject]]:
    async for batch in iterate_submissions(ctx, form, query):
        yield [_row(submission, columns) for submission in batch]


def _row(submission: Submission, columns: dict[str, str]) -> JsonObject:
    own = {name: getattr(submission, name) for name in _SUBMISSION_COLUMNS}
    own["status"] = submission.status.value
    return own | {column: submission.data.get(id) for column, id in columns.items()}
