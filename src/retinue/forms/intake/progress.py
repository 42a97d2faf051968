"""Saved answers that were not submitted yet; the session id is the only key to them."""

import hashlib
import re
from datetime import datetime

import msgspec

from retinue.forms.after import daily_counts
from retinue.forms.errors import SubmissionNotFound
from retinue.forms.models import Progress
from retinue.forms.open_form import OpenForm
from retinue.forms.schemas import ProgressOut, ProgressSave, ProgressSaved
from retinue.forms.urls import page_url
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Invalid

MAX_PROGRESS_BYTES = 256 * 1024
_SESSION = re.compile(r"[A-Za-z0-9_-]{16,128}")


def progress_id(form_id: str, session_id: object) -> str | None:
    """Return the record id for a session, or None if the session id is malformed."""
    if not isinstance(session_id, str) or not _SESSION.fullmatch(session_id):
        return None
    return "fpr_" + hashlib.sha256(f"{form_id}\n{session_id}".encode()).hexdigest()


def elapsed_ms(started_at: Instant, ended_at: Instant) -> int:
    duration = datetime.fromisoformat(ended_at) - datetime.fromisoformat(started_at)
    return max(0, round(duration.total_seconds() * 1000))


async def save(ctx: Context, form: OpenForm, session_id: str, body: ProgressSave) -> ProgressSaved:
    id = _require_progress_id(form, session_id)
    answers = {field_id: value for field_id, value in body.data.items() if field_id in form.fields.by_id}
    if len(msgspec.json.encode(answers)) > MAX_PROGRESS_BYTES:
        raise Invalid({"data": f"must be at most {MAX_PROGRESS_BYTES // 1024} KiB"})
    last = body.last_field_id if body.last_field_id in form.fields.by_id else None
    progress = Progress(id=id, form_id=form.id, data=answers, last_field_id=last)
    if await ctx.db.insert_missing(progress):
        daily_counts.count_start(ctx, form.id)
    else:
        locked = await ctx.db.lock(Progress, id)
        if locked is not None:
            progress = await ctx.db.update(locked, data=answers, last_field_id=last or locked.last_field_id)
    url = f"{page_url(ctx, form.slug)}?session={session_id}"
    return ProgressSaved(session_id=session_id, resume_url=url, saved_at=progress.updated_at)


async def resume(ctx: Context, form: OpenForm, session_id: str) -> ProgressOut:
    progress = await ctx.db.get(Progress, _require_progress_id(form, session_id))
    if progress is None:
        raise SubmissionNotFound("Nothing was saved under this session.")
    return ProgressOut.of(progress, session_id=session_id, saved_at=progress.updated_at)


def _require_progress_id(form: OpenForm, session_id: str) -> str:
    id = progress_id(form.id, session_id)
    if id is None:
        raise Invalid({"session_id": "must be 16 to 128 random letters, digits, - or _"})
    return id
