"""What becomes of a submission besides being kept: a row of a data table, and a workflow that starts.

Both happen in the transaction that stores the submission: exactly once, or they are said not to have.
"""

from typing import Any

import structlog

from retinue.forms import counting
from retinue.forms.events import FormSubmissionCreated, FormSubmissionUpdated
from retinue.forms.models import Form, Submission, SubmissionStatus
from retinue.forms.opening import OpenForm, opened
from retinue.kit.actions import WorkflowStart, WorkflowStarter
from retinue.kit.context import Context
from retinue.kit.db.errors import ReferenceViolation, UniqueViolation
from retinue.kit.errors import RetinueError, Unavailable
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import job
from retinue.kit.logging import scrub
from retinue.tables import service as tables
from retinue.tables.errors import TableNotFound
from retinue.tables.loaders import fetch_table
from retinue.tables.models import ColumnType, DataTable
from retinue.workflows.models import RunStatus, WorkflowExecution

log = structlog.get_logger("retinue.forms")

_LONGEST_ERROR = 500
_LONGEST_IN_EVENT = 4096

Json = dict[str, Any]


async def process(ctx: Context, form: OpenForm, submission: Submission) -> None:
    """Do what was not done yet, and set the submission's fields accordingly; the caller stores them."""
    if form.saves_rows and submission.data_table_row_id is None:
        await _save_row(ctx, form, submission)
    if form.workflow_id is not None and submission.workflow_execution_id is None:
        await _start_workflow(ctx, form, submission)
    is_done = form.workflow_id is None and submission.data_table_error is None
    if is_done and submission.status is SubmissionStatus.received:
        submission.status, submission.processed_at = SubmissionStatus.processed, ctx.now


async def _save_row(ctx: Context, form: OpenForm, submission: Submission) -> None:
    config = form.data_table_config
    assert config is not None
    try:
        table = await fetch_table(ctx, config.table_id)
        row = await tables.insert_row(ctx, table.id, _row(table, config.field_mapping, submission.data))
    except (UniqueViolation, ReferenceViolation) as raced:
        # Somebody was quicker after we had looked: the transaction is spent, and a second try sees it.
        raise Unavailable from raced
    except RetinueError as error:
        if error.status >= 500:
            raise
        submission.data_table_error = _reason(error)
    else:
        submission.data_table_row_id, submission.data_table_error = row["id"], None


def _row(table: DataTable, mapping: dict[str, str], data: Json) -> Json:
    """By the mapping; without one, each field goes to the column of its own name."""
    columns = {column.name: column for column in table.columns}
    named = mapping or {field_id: field_id for field_id in data if field_id in columns}
    row = {}
    for field_id, name in named.items():
        if field_id in data:
            value = data[field_id]
            is_text = name in columns and columns[name].type is ColumnType.text
            row[name] = _as_text(value) if is_text else value
    return row


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_as_text(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


async def _start_workflow(ctx: Context, form: OpenForm, submission: Submission) -> None:
    starter = _starter(ctx)
    if starter is None or form.workflow_id is None or not await starter.exists(ctx, form.workflow_id):
        return
    start = WorkflowStart(
        workflow_id=form.workflow_id,
        input={
            "form_id": form.id,
            "form_name": form.name,
            "submission_id": submission.id,
            "data": submission.data,
            "metadata": submission.metadata,
        },
        trigger="form",
        source_id=submission.id,
    )
    try:
        submission.workflow_execution_id = await starter.start(ctx, start)
    except RetinueError as error:
        if error.status >= 500:
            raise
        log.info("form_workflow_not_started", form_id=form.id, submission_id=submission.id, code=error.code)


def _starter(ctx: Context) -> WorkflowStarter | None:
    return next(
        (starter for manifest in ctx.instance.manifests for starter in manifest.workflow_starters), None
    )


def _reason(error: RetinueError) -> str:
    if isinstance(error, TableNotFound):
        return "The data table does not exist."
    said = "; ".join(
        f"{name} {text}" for name, text in (error.details or {}).items() if isinstance(text, str)
    )
    return scrub(f"{error.message} {said}".strip())[:_LONGEST_ERROR]


@job()
async def end_processing(ctx: Context, payload: EventOccurred) -> None:
    """A workflow that a submission started has ended; if it ended well, the submission is processed."""
    event = await ctx.db.get(EventEntry, payload.event_id)
    if event is None:
        return
    execution = await ctx.db.get(WorkflowExecution, event.subject_id)
    if execution is None or execution.status is not RunStatus.completed:
        return
    submission = await ctx.db.lock(Submission, execution.trigger_id)
    is_ours = submission is not None and submission.workflow_execution_id == execution.id
    if submission is None or not is_ours or submission.status is not SubmissionStatus.received:
        return
    form = await ctx.db.get(Form, submission.form_id)
    if form is not None and submission.data_table_error is None:
        await change_status(ctx, form, submission, SubmissionStatus.processed)


async def change_status(ctx: Context, form: Form, submission: Submission, status: SubmissionStatus) -> None:
    """Of a submission whose row is locked."""
    before = submission.status
    processed_at = submission.processed_at
    if status is SubmissionStatus.processed:
        processed_at = ctx.now
    elif status is SubmissionStatus.received:
        processed_at = None
    await ctx.db.update(submission, status=status, processed_at=processed_at)
    counting.count_move(ctx, submission, before)
    tell_updated(ctx, form.name, submission, before)


async def reprocess(ctx: Context, form: Form, submission: Submission) -> Submission:
    """Try again what failed: the row that could not be stored, the workflow that did not end well."""
    held = await ctx.db.lock(Submission, submission.id)
    if held is None:
        return submission
    before = held.status
    if held.workflow_execution_id is not None:
        execution = await ctx.db.get(WorkflowExecution, held.workflow_execution_id)
        if execution is None or execution.status is RunStatus.failed:
            held.workflow_execution_id = None
    await process(ctx, opened(form), held)
    names = ("workflow_execution_id", "data_table_row_id", "data_table_error", "status", "processed_at")
    await ctx.db.update(held, **{name: getattr(held, name) for name in names})
    counting.count_move(ctx, held, before)
    tell_updated(ctx, form.name, held, before)
    return held


def tell_created(ctx: Context, form_name: str, submission: Submission) -> None:
    ctx.emit(FormSubmissionCreated(**_told(form_name, submission), status=SubmissionStatus.received))


def tell_updated(ctx: Context, form_name: str, submission: Submission, before: SubmissionStatus) -> None:
    ctx.emit(
        FormSubmissionUpdated(
            **_told(form_name, submission), status=submission.status, previous_status=before
        )
    )


def _told(form_name: str, submission: Submission) -> Json:
    return {
        "form_id": submission.form_id,
        "form_name": form_name,
        "submission_id": submission.id,
        "data": {id: _shortened(value) for id, value in submission.data.items()},
        "metadata": submission.metadata,
        "workflow_execution_id": submission.workflow_execution_id,
    }


def _shortened(value: Any) -> Any:
    """A signature is a picture, and an event is not the place for one."""
    if isinstance(value, str) and len(value) > _LONGEST_IN_EVENT:
        return value[:_LONGEST_IN_EVENT] + "…"
    return value
