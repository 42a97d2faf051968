"""Processing of a submission: a row in a data table, and the start of a workflow.

Both happen in the transaction that stores the submission: exactly once, or the failure is recorded.
"""

from typing import Any

import structlog

from retinue.forms.after import daily_counts
from retinue.forms.events import FormSubmissionCreated, FormSubmissionUpdated
from retinue.forms.models import Form, Submission, SubmissionStatus
from retinue.forms.open_form import OpenForm, to_open_form
from retinue.kit.context import Context
from retinue.kit.context.subscription_actions import WorkflowStart, WorkflowStarter
from retinue.kit.db.errors import ReferenceViolation, UniqueViolation
from retinue.kit.errors import Invalid, RetinueError, Unavailable
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.json_types import JsonObject
from retinue.kit.logging import scrub_secrets
from retinue.tables import service as tables
from retinue.tables.errors import TableNotFound
from retinue.tables.loaders import fetch_table
from retinue.tables.models import ColumnType, DataTable
from retinue.tables.row_validation import SYSTEM_COLUMN_NAMES, UNKNOWN_COLUMN_MESSAGE
from retinue.workflows.models import RunStatus, WorkflowExecution

log = structlog.get_logger("retinue.forms")

_MAX_ERROR_LENGTH = 500
_MAX_EVENT_VALUE_LENGTH = 4096


async def process(ctx: Context, form: OpenForm, submission: Submission) -> None:
    """Do what has not been done yet and set the submission's fields; the caller stores them."""
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
        row = await tables.insert_row(
            ctx, table.id, _row_values(table, config.field_mapping, submission.data)
        )
    except (UniqueViolation, ReferenceViolation) as conflict:
        # A concurrent write after our check aborted the transaction. A retry sees it.
        raise Unavailable from conflict
    except RetinueError as error:
        if error.status >= 500:
            raise
        submission.data_table_error = _error_text(error)
    else:
        submission.data_table_row_id, submission.data_table_error = row["id"], None


def _row_values(table: DataTable, mapping: dict[str, str], data: JsonObject) -> JsonObject:
    """Return the row by the mapping; with an empty mapping, each field goes to the column of its name."""
    columns = {column.name: column for column in table.columns}
    missing = [name for name in mapping.values() if name not in columns and name not in SYSTEM_COLUMN_NAMES]
    if missing:
        # The mapping is wrong even if the field was not answered; report it with the first submission.
        raise Invalid(dict.fromkeys(missing, UNKNOWN_COLUMN_MESSAGE))
    named = mapping or {field_id: field_id for field_id in data if field_id in columns}
    row = {}
    for field_id, name in named.items():
        if field_id in data:
            value = data[field_id]
            is_text = name in columns and columns[name].type is ColumnType.text
            row[name] = _as_text(value) if is_text else value
    return row


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_as_text(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


async def _start_workflow(ctx: Context, form: OpenForm, submission: Submission) -> None:
    starter = _find_workflow_starter(ctx)
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


def _find_workflow_starter(ctx: Context) -> WorkflowStarter | None:
    return next(iter(ctx.instance.registry.all(WorkflowStarter)), None)


def _error_text(error: RetinueError) -> str:
    if isinstance(error, TableNotFound):
        return "The data table does not exist."
    problems = "; ".join(
        f"{name} {text}" for name, text in (error.details or {}).items() if isinstance(text, str)
    )
    return scrub_secrets(f"{error.message} {problems}".strip())[:_MAX_ERROR_LENGTH]


async def finish_processing(ctx: Context, payload: EventOccurred) -> None:
    """Mark a submission as processed when the workflow it started has completed."""
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
    """Change the status of a locked submission."""
    before = submission.status
    processed_at = submission.processed_at
    if status is SubmissionStatus.processed:
        processed_at = ctx.now
    elif status is SubmissionStatus.received:
        processed_at = None
    await ctx.db.update(submission, status=status, processed_at=processed_at)
    daily_counts.count_status_change(ctx, submission, before)
    emit_updated(ctx, form.name, submission, before)


async def reprocess(ctx: Context, form: Form, submission: Submission) -> Submission:
    """Retry what failed: the row that could not be stored, the workflow that failed."""
    locked = await ctx.db.lock(Submission, submission.id)
    if locked is None:
        return submission
    before = locked.status
    if locked.workflow_execution_id is not None:
        execution = await ctx.db.get(WorkflowExecution, locked.workflow_execution_id)
        if execution is None or execution.status is RunStatus.failed:
            locked.workflow_execution_id = None
    await process(ctx, to_open_form(form), locked)
    names = ("workflow_execution_id", "data_table_row_id", "data_table_error", "status", "processed_at")
    await ctx.db.update(locked, **{name: getattr(locked, name) for name in names})
    daily_counts.count_status_change(ctx, locked, before)
    emit_updated(ctx, form.name, locked, before)
    return locked


def emit_created(ctx: Context, form_name: str, submission: Submission) -> None:
    ctx.emit(FormSubmissionCreated(**_event_fields(form_name, submission), status=SubmissionStatus.received))


def emit_updated(ctx: Context, form_name: str, submission: Submission, before: SubmissionStatus) -> None:
    ctx.emit(
        FormSubmissionUpdated(
            **_event_fields(form_name, submission), status=submission.status, previous_status=before
        )
    )


def _event_fields(form_name: str, submission: Submission) -> JsonObject:
    return {
        "form_id": submission.form_id,
        "form_name": form_name,
        "submission_id": submission.id,
        "data": {id: _truncate(value) for id, value in submission.data.items()},
        "metadata": submission.metadata,
        "workflow_execution_id": submission.workflow_execution_id,
    }


def _truncate(value: object) -> Any:
    """Shorten long values, such as drawn signatures, which do not belong in events."""
    if isinstance(value, str) and len(value) > _MAX_EVENT_VALUE_LENGTH:
        return value[:_MAX_EVENT_VALUE_LENGTH] + "…"
    return value
