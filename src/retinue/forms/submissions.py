"""Submissions as those who made the form see them: listed, changed, deleted, exported."""

from collections.abc import AsyncIterator
from typing import Any

from retinue.forms import counting, processing, searching, uploading
from retinue.forms.errors import SubmissionNotFound
from retinue.forms.models import Form, Submission, SubmissionStatus
from retinue.forms.queries import find_submission, page_of_submissions, walk
from retinue.forms.schemas import (
    ExportQuery,
    FormExecutionOut,
    SubmissionList,
    SubmissionOut,
    SubmissionPage,
    SubmissionPagination,
    SubmissionUpdate,
)
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.fields import STATIC, FieldType
from retinue.kit.http.replies import ByteStream, Reply
from retinue.kit.http.routing import is_plausible
from retinue.kit.schemas import given
from retinue.tables import exporting
from retinue.workflows.models import WorkflowExecution

_OWN = ("id", "status", "created_at", "processed_at", "form_version", "source")

_ALLOWED = {
    SubmissionStatus.received: (SubmissionStatus.processed, SubmissionStatus.archived),
    SubmissionStatus.processed: (SubmissionStatus.archived, SubmissionStatus.received),
    SubmissionStatus.archived: (SubmissionStatus.received, SubmissionStatus.processed),
}


async def page(ctx: Context, form: Form, query: SubmissionList) -> SubmissionPage:
    found = await page_of_submissions(ctx, form, query)
    pages = -(-found.total // found.per_page)
    return SubmissionPage(
        [SubmissionOut.shown(one, form) for one in found.items],
        SubmissionPagination(found.page, found.per_page, found.total, pages, found.is_exact),
    )


async def fetch(ctx: Context, form: Form, submission_id: str) -> Submission:
    found = await find_submission(ctx, form, submission_id) if is_plausible(submission_id) else None
    if found is None:
        raise SubmissionNotFound
    return found


async def shown(ctx: Context, form: Form, submission: Submission) -> SubmissionOut:
    return SubmissionOut.shown(submission, form, await _execution(ctx, submission))


async def _execution(ctx: Context, submission: Submission) -> FormExecutionOut | None:
    if submission.workflow_execution_id is None:
        return None
    found = await ctx.db.get(WorkflowExecution, submission.workflow_execution_id)
    return None if found is None else FormExecutionOut.of(found)


async def update(ctx: Context, form: Form, submission: Submission, body: SubmissionUpdate) -> Submission:
    held = await _hold(ctx, submission)
    before, wanted = held.status, given(body)
    status = wanted.get("status", before)
    if status is not before and status not in _ALLOWED[before]:
        raise InvalidTransition(before.value, status.value, [one.value for one in _ALLOWED[before]])
    if "notes" in wanted and wanted["notes"] != held.notes:
        await ctx.db.update(held, notes=wanted["notes"])
        if status is before:
            processing.tell_updated(ctx, form.name, held, before)
    if status is not before:
        await processing.change_status(ctx, form, held, status)
    return held


async def _hold(ctx: Context, submission: Submission) -> Submission:
    held = await ctx.db.lock(Submission, submission.id)
    if held is None:
        raise SubmissionNotFound
    return held


async def delete(ctx: Context, submission: Submission) -> None:
    """With its files, whose bytes go after the commit."""
    held = await _hold(ctx, submission)
    await uploading.remove_files(ctx, [file.file_id for file in held.files])
    await counting.uncount(ctx, held)
    await searching.forget(ctx, held)
    await ctx.db.delete(held)


def export(ctx: Context, form: Form, query: ExportQuery) -> Reply[ByteStream]:
    """A file that is made while it is sent; fields that are gone since are not in it."""
    columns = {field["id"]: field for field in form.fields if FieldType(field["type"]) not in STATIC}
    names = [*_OWN, *(id for id in columns if id not in _OWN)]
    chunks = exporting.written(_rows(ctx.apart(), form, query, names), query.format, names)
    name = ("Content-Disposition", f'attachment; filename="{form.slug}.{query.format}"')
    return Reply(ByteStream(chunks, exporting.MIME_TYPES[query.format]), headers=(name,))


async def _rows(
    ctx: Context, form: Form, query: ExportQuery, names: list[str]
) -> AsyncIterator[list[dict[str, Any]]]:
    async for some in walk(ctx, form, query):
        yield [_row(one, names) for one in some]


def _row(submission: Submission, names: list[str]) -> dict[str, Any]:
    own = {name: getattr(submission, name) for name in _OWN}
    own["status"] = submission.status.value
    return {name: own[name] if name in own else submission.data.get(name) for name in names}
