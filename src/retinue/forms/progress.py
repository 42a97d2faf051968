"""Answers that were not sent yet, for whoever comes back; the session id is the only key to them."""

import hashlib
import re
from datetime import datetime
from typing import Any

import msgspec

from retinue.forms import counting
from retinue.forms.addresses import page_address
from retinue.forms.errors import SubmissionNotFound
from retinue.forms.models import Progress
from retinue.forms.opening import OpenForm
from retinue.forms.schemas import ProgressOut, ProgressSave, ProgressSaved
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Invalid

MOST_BYTES = 256 * 1024
_SESSION = re.compile(r"[A-Za-z0-9_-]{16,128}")


def progress_id(form_id: str, session_id: Any) -> str | None:
    """None for what no page of ours would call a session."""
    if not isinstance(session_id, str) or not _SESSION.fullmatch(session_id):
        return None
    return "fpr_" + hashlib.sha256(f"{form_id}\n{session_id}".encode()).hexdigest()


def took_ms(started_at: Instant, ended_at: Instant) -> int:
    taken = datetime.fromisoformat(ended_at) - datetime.fromisoformat(started_at)
    return max(0, round(taken.total_seconds() * 1000))


async def save(ctx: Context, form: OpenForm, session_id: str, body: ProgressSave) -> ProgressSaved:
    id = _require_id(form, session_id)
    known = {field_id: value for field_id, value in body.data.items() if field_id in form.fields.by_id}
    if len(msgspec.json.encode(known)) > MOST_BYTES:
        raise Invalid({"data": f"is larger than {MOST_BYTES // 1024} KiB"})
    last = body.last_field_id if body.last_field_id in form.fields.by_id else None
    fresh = Progress(id=id, form_id=form.id, data=known, last_field_id=last)
    if await ctx.db.insert_missing(fresh):
        counting.count_start(ctx, form.id)
    else:
        held = await ctx.db.lock(Progress, id)
        if held is not None:
            fresh = await ctx.db.update(held, data=known, last_field_id=last or held.last_field_id)
    url = f"{page_address(ctx, form.slug)}?session={session_id}"
    return ProgressSaved(session_id=session_id, resume_url=url, saved_at=fresh.updated_at)


async def resume(ctx: Context, form: OpenForm, session_id: str) -> ProgressOut:
    found = await ctx.db.get(Progress, _require_id(form, session_id))
    if found is None:
        raise SubmissionNotFound("Nothing was saved under this session.")
    return ProgressOut.of(found, session_id=session_id, saved_at=found.updated_at)


def _require_id(form: OpenForm, session_id: str) -> str:
    id = progress_id(form.id, session_id)
    if id is None:
        raise Invalid({"session_id": "must be 16 to 128 letters, digits, - or _, that nobody can guess"})
    return id
