"""Submissions: validated, then stored with their event, files and follow-up processing."""

import re

import msgspec

from retinue.forms.after import processing
from retinue.forms.after.search_index import index_text
from retinue.forms.errors import AlreadySubmitted, FormClosed, SubmissionInvalid
from retinue.forms.intake import file_uploads, options
from retinue.forms.intake.progress import elapsed_ms, progress_id
from retinue.forms.models import Form, Progress, Submission, SubmissionStatus
from retinue.forms.open_form import OpenForm, require_accepting
from retinue.forms.queries import has_submitted, load_totals
from retinue.forms.schemas import Submit
from retinue.kit.context import Context
from retinue.kit.failpoints import failpoint
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import FieldError, FieldType
from retinue.usage.meters import meter

MAX_METADATA_BYTES = 4096
_MAX_SOURCE_LENGTH = 100
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


async def submit(
    ctx: Context, form: OpenForm, body: Submit, *, source: str, started_at: str | None = None
) -> Submission:
    """Store a submission; `started_at` is when answering began, if known."""
    values = await validate_submission(ctx, form, body)
    submission = _new_submission(ctx, form, values, _metadata(ctx, body.metadata, source))
    await _delete_progress(ctx, form, body.session_id, submission, started_at)
    await _store(ctx, form, submission)
    return submission


async def validate_submission(ctx: Context, form: OpenForm, body: Submit) -> JsonObject:
    """Return the submission's values after validation; nothing is written."""
    require_accepting(ctx, form)
    data = body.data
    if not isinstance(data, dict):
        raise SubmissionInvalid([FieldError("data", "must be an object with the answers by field id")])
    checked = form.fields.check(data)
    errors = [*checked.errors, *metadata_errors(body.metadata)]
    if not errors:
        errors = await options.find_invalid_choices(ctx, form, checked.values)
    if errors:
        raise SubmissionInvalid(errors)
    await require_submit_limit(ctx, form)
    return checked.values


def metadata_errors(metadata: object) -> list[FieldError]:
    if metadata is None:
        return []
    if not isinstance(metadata, dict):
        return [FieldError("metadata", "must be an object")]
    if len(msgspec.json.encode(metadata)) > MAX_METADATA_BYTES:
        return [FieldError("metadata", f"must be at most {MAX_METADATA_BYTES} bytes")]
    return []


def _metadata(ctx: Context, own_metadata: JsonObject | None, source: str) -> JsonObject:
    """Return the caller's metadata, overridden by what the server knows."""
    metadata = {"source": source, **(own_metadata or {})}
    if not isinstance(metadata["source"], str) or not metadata["source"]:
        metadata["source"] = source
    metadata["ip_address"] = ctx.caller.ip_address
    metadata["user_agent"] = _CONTROLS.sub("", ctx.caller.user_agent)
    return metadata


def _new_submission(ctx: Context, form: OpenForm, values: JsonObject, metadata: JsonObject) -> Submission:
    return Submission(
        id=new_id(Submission.__prefix__),
        created_at=ctx.now,
        form_id=form.id,
        form_version=form.version,
        data=values,
        metadata=metadata,
        source=metadata["source"][:_MAX_SOURCE_LENGTH],
        searched=search_text(form, values),
        submitted_by=ctx.principal.owner_id,
        is_signed_in=ctx.principal.kind == "user",
    )


def search_text(form: OpenForm, values: JsonObject) -> str:
    """Return the searchable words of the answers, without signatures."""
    fields = form.fields.by_id
    parts = [value for id, value in values.items() if fields[id].type is not FieldType.signature]
    return index_text("\n".join(_value_text(value) for value in parts))


def _value_text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


async def require_submit_limit(ctx: Context, form: OpenForm) -> None:
    """Enforce `submit_limit` and `one_per_user`. Only these make submissions wait for each other."""
    rules = form.rules
    is_single = rules.one_per_user and ctx.principal.kind == "user"
    if rules.submit_limit is None and not is_single:
        return
    await ctx.db.lock(Form, form.id)
    if rules.submit_limit is not None and (await load_totals(ctx, form.id)).submissions >= rules.submit_limit:
        raise FormClosed
    if is_single and await has_submitted(ctx, form.id, ctx.principal.id):
        raise AlreadySubmitted


async def _delete_progress(
    ctx: Context, form: OpenForm, session_id: object, submission: Submission, started_at: str | None
) -> None:
    """Delete the saved progress; the time of its first save is when answering began."""
    id = progress_id(form.id, session_id)
    saved = await ctx.db.get(Progress, id) if id is not None else None
    if saved is not None:
        await ctx.db.delete(saved)
        started_at = saved.created_at
    if started_at is not None:
        submission.took_ms = elapsed_ms(started_at, submission.created_at)


async def _store(ctx: Context, form: OpenForm, submission: Submission) -> None:
    submission.files, errors = await file_uploads.claim_files(ctx, form, submission)
    if errors:
        raise SubmissionInvalid(errors)
    if form.has_processing:
        await processing.process(ctx, form, submission)
    processing.emit_created(ctx, form.name, submission)
    if submission.status is not SubmissionStatus.received:
        processing.emit_updated(ctx, form.name, submission, SubmissionStatus.received)
    failpoint("form_submission_before_store")
    await ctx.db.insert_at_commit(submission)
    meter(ctx, {"form_submissions": 1})
