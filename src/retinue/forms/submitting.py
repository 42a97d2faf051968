"""Taking a submission: checked, then stored with its event, its files and what it sets off."""

import re
from typing import Any

import msgspec

from retinue.forms import options, processing, uploading
from retinue.forms.errors import AlreadySubmitted, FormClosed, SubmissionInvalid
from retinue.forms.models import Form, Progress, Submission, SubmissionStatus
from retinue.forms.opening import OpenForm, require_open
from retinue.forms.progress import progress_id, took_ms
from retinue.forms.queries import has_submitted, totals
from retinue.forms.schemas import Submit
from retinue.forms.searching import spaced_words
from retinue.kit.context import Context
from retinue.kit.failpoints import failpoint
from retinue.kit.fields import FieldError, FieldType
from retinue.kit.ids import new_id
from retinue.usage.metering import meter

MOST_METADATA_BYTES = 4096
_LONGEST_SOURCE = 100
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")

Json = dict[str, Any]


async def submit(
    ctx: Context, form: OpenForm, body: Submit, *, source: str, started_at: str | None = None
) -> Submission:
    """Store a submission; `started_at` is when answering began, if someone knows."""
    values = await require_admitted(ctx, form, body)
    submission = _submission(ctx, form, values, _metadata(ctx, body.metadata, source))
    await _end_progress(ctx, form, body.session_id, submission, started_at)
    await _store(ctx, form, submission)
    return submission


async def require_admitted(ctx: Context, form: OpenForm, body: Submit) -> Json:
    """The values of a submission that would be taken now; nothing is written."""
    require_open(ctx, form)
    data = body.data
    if not isinstance(data, dict):
        raise SubmissionInvalid([FieldError("data", "must be an object with the answers by field id")])
    checked = form.fields.check(data)
    errors = [*checked.errors, *metadata_errors(body.metadata)]
    if not errors:
        errors = await options.wrong_choices(ctx, form, checked.values)
    if errors:
        raise SubmissionInvalid(errors)
    await require_room(ctx, form)
    return checked.values


def metadata_errors(metadata: Any) -> list[FieldError]:
    if metadata is None:
        return []
    if not isinstance(metadata, dict):
        return [FieldError("metadata", "must be an object")]
    if len(msgspec.json.encode(metadata)) > MOST_METADATA_BYTES:
        return [FieldError("metadata", f"may have at most {MOST_METADATA_BYTES} bytes")]
    return []


def _metadata(ctx: Context, given: Json | None, source: str) -> Json:
    """What the server knows comes last, over whatever the caller says of it."""
    metadata = {"source": source, **(given or {})}
    if not isinstance(metadata["source"], str) or not metadata["source"]:
        metadata["source"] = source
    metadata["ip_address"] = ctx.caller.ip_address
    metadata["user_agent"] = _CONTROLS.sub("", ctx.caller.user_agent)
    return metadata


def _submission(ctx: Context, form: OpenForm, values: Json, metadata: Json) -> Submission:
    return Submission(
        id=new_id(Submission.__prefix__),
        created_at=ctx.now,
        form_id=form.id,
        form_version=form.version,
        data=values,
        metadata=metadata,
        source=metadata["source"][:_LONGEST_SOURCE],
        searched=searched(form, values),
        submitted_by=ctx.principal.id if ctx.principal.kind == "user" else "",
        is_signed_in=ctx.principal.kind == "user",
    )


def searched(form: OpenForm, values: Json) -> str:
    """The words of the answers that can be read."""
    read = form.fields.by_id
    parts = [value for id, value in values.items() if read[id].type is not FieldType.signature]
    return spaced_words("\n".join(_plain(value) for value in parts))


def _plain(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


async def require_room(ctx: Context, form: OpenForm) -> None:
    """Only where a number is agreed on does one submission wait for another."""
    rules = form.rules
    is_single = rules.one_per_user and ctx.principal.kind == "user"
    if rules.submit_limit is None and not is_single:
        return
    await ctx.db.lock(Form, form.id)
    if rules.submit_limit is not None and (await totals(ctx, form.id)).submissions >= rules.submit_limit:
        raise FormClosed
    if is_single and await has_submitted(ctx, form.id, ctx.principal.id):
        raise AlreadySubmitted


async def _end_progress(
    ctx: Context, form: OpenForm, session_id: Any, submission: Submission, started_at: str | None
) -> None:
    """What was saved on the way is sent now; when it was first saved is when answering began."""
    id = progress_id(form.id, session_id)
    saved = await ctx.db.get(Progress, id) if id is not None else None
    if saved is not None:
        await ctx.db.delete(saved)
        started_at = saved.created_at
    if started_at is not None:
        submission.took_ms = took_ms(started_at, submission.created_at)


async def _store(ctx: Context, form: OpenForm, submission: Submission) -> None:
    submission.files, errors = await uploading.claim_all(ctx, form, submission)
    if errors:
        raise SubmissionInvalid(errors)
    if form.processes:
        await processing.process(ctx, form, submission)
    processing.tell_created(ctx, form.name, submission)
    if submission.status is not SubmissionStatus.received:
        processing.tell_updated(ctx, form.name, submission, SubmissionStatus.received)
    failpoint("form_submission_before_store")
    await ctx.db.insert_at_commit(submission)
    meter(ctx, {"form_submissions": 1})
