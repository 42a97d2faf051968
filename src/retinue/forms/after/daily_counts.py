"""Daily sums, updated as things happen, so that analytics never scan submissions.

A submission is stored with `is_uncounted`. A job adds it to its day and to the search index, so that
concurrent submissions do not wait for each other's sums. Readers add what is not counted yet.
"""

from collections import Counter, defaultdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.forms.after import search_index
from retinue.forms.models import FormDay, Progress, Submission, SubmissionStatus
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.json_types import JsonObject

BATCH_SIZE = 250
PROGRESS_RETENTION_SECONDS = 7 * 24 * 3600

_days, _submissions, _progress = FormDay.__table__, Submission.__table__, Progress.__table__
_UNCOUNTED = record_statement(
    Submission,
    sa.select(_submissions)
    .where(_submissions.c.is_uncounted == sa.true())
    .order_by(_submissions.c.tenant_id, _submissions.c.form_id, _submissions.c.created_at, _submissions.c.id)
    .limit(BATCH_SIZE)
    .with_for_update(skip_locked=True),
)
_OLD_PROGRESS = record_statement(
    Progress,
    sa.select(_progress)
    .where(_progress.c.updated_at < sa.bindparam("before", type_=sa.Text()))
    .limit(BATCH_SIZE)
    .with_for_update(skip_locked=True),
)
_DELETE_PROGRESS = Statement(sa.delete(_progress).where(in_list(_progress.c.id, "ids")))


def _increment(column: str) -> Statement[Any]:
    names = [name for name in FormDay.__struct_fields__ if name != "tenant_id"]
    given = {name: sa.bindparam(f"new_{name}", type_=_days.c[name].type) for name in names}
    insert = postgresql.insert(_days).values(given)
    changed = {column: _days.c[column] + 1, "updated_at": insert.excluded.updated_at}
    return Statement(insert.on_conflict_do_update(index_elements=["tenant_id", "id"], set_=changed))


_INCREMENTS = {column: _increment(column) for column in ("views", "starts")}
_CHANGE_STATUS_COUNTS = Statement(
    sa.update(_days)
    .where(_days.c.id == sa.bindparam("day_id", type_=sa.Text()))
    .values(
        processed=_days.c.processed + sa.bindparam("processed_by", type_=sa.BigInteger()),
        archived=_days.c.archived + sa.bindparam("archived_by", type_=sa.BigInteger()),
    )
)


def day_id(form_id: str, at: Instant) -> str:
    return f"{form_id}.{at[:10]}"


def count_view(ctx: Context, form_id: str) -> None:
    _count(ctx, form_id, "views")


def count_start(ctx: Context, form_id: str) -> None:
    """Count a visitor who began to answer, on a page or in a conversation."""
    _count(ctx, form_id, "starts")


def _count(ctx: Context, form_id: str, column: str) -> None:
    now = ctx.now
    first = FormDay(id=day_id(form_id, now), form_id=form_id, day=now[:10], created_at=now, updated_at=now)
    values = {
        f"new_{name}": getattr(first, name) for name in FormDay.__struct_fields__ if name != "tenant_id"
    }
    values[f"new_{column}"] = 1
    ctx.db.execute_at_commit(_INCREMENTS[column], **values)


def count_status_change(ctx: Context, submission: Submission, before: SubmissionStatus) -> None:
    """Adjust the day's sums to a new status of a locked submission, unless it is uncounted."""
    after = submission.status
    if submission.is_uncounted or before is after:
        return
    ctx.db.execute_at_commit(
        _CHANGE_STATUS_COUNTS,
        day_id=day_id(submission.form_id, submission.created_at),
        processed_by=_status_delta(before, after, SubmissionStatus.processed),
        archived_by=_status_delta(before, after, SubmissionStatus.archived),
    )


def _status_delta(before: SubmissionStatus, after: SubmissionStatus, status: SubmissionStatus) -> int:
    return int(after is status) - int(before is status)


async def uncount_submission(ctx: Context, submission: Submission) -> None:
    """Subtract a locked submission that is being deleted from its day's sums."""
    if submission.is_uncounted:
        return
    day = await ctx.db.lock(FormDay, day_id(submission.form_id, submission.created_at))
    if day is None:
        return
    tally = SubmissionTally()
    tally.add(submission)
    changes: JsonObject = {
        name: max(0, getattr(day, name) - getattr(tally, name)) for name in SubmissionTally.NUMBERS
    }
    for name in ("filled", "sources"):
        remaining = Counter(getattr(day, name))
        remaining.subtract(getattr(tally, name))
        changes[name] = dict(+remaining)
    await ctx.db.update(day, **changes)


class SubmissionTally:
    """The sums over some submissions."""

    NUMBERS = ("submissions", "processed", "archived", "timed", "took_ms")

    def __init__(self) -> None:
        self.submissions = 0
        self.processed = 0
        self.archived = 0
        self.timed = 0
        self.took_ms = 0
        self.filled: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()

    def add(self, submission: Submission) -> None:
        self.submissions += 1
        self.processed += submission.status is SubmissionStatus.processed
        self.archived += submission.status is SubmissionStatus.archived
        if submission.took_ms is not None:
            self.timed += 1
            self.took_ms += submission.took_ms
        self.filled.update(list(submission.data))
        self.sources[submission.source] += 1


async def count_submissions(ctx: Context) -> None:
    """Add new submissions to the sums of their days and to the search index."""
    counted = BATCH_SIZE
    while counted == BATCH_SIZE:
        async with ctx.unit() as unit:
            counted = await _count_batch(unit)


async def _count_batch(ctx: Context) -> int:
    await ctx.unit_of_work.begin()
    system = ctx.system("submissions of every tenant are counted")
    submissions = await system.rows(_UNCOUNTED)
    tallies: defaultdict[tuple[str, str, str], SubmissionTally] = defaultdict(SubmissionTally)
    for submission in submissions:
        tallies[submission.tenant_id, submission.form_id, submission.created_at[:10]].add(submission)
    for key, tally in sorted(tallies.items(), key=lambda item: item[0]):
        day = await lock_day(system, *key)
        changes: JsonObject = {
            name: getattr(day, name) + getattr(tally, name) for name in SubmissionTally.NUMBERS
        }
        for name in ("filled", "sources"):
            changes[name] = dict(Counter(getattr(day, name)) + getattr(tally, name))
        await system.update(day, **changes)
    await search_index.index_submissions(system, submissions)
    return len(submissions)


async def lock_day(system: SystemDb, tenant_id: str, form_id: str, day: str) -> FormDay:
    """Return the day's row, created if needed and locked."""
    first = FormDay(id=day_id(form_id, day), tenant_id=tenant_id, form_id=form_id, day=day)
    await system.insert_missing(first)
    locked = await system.lock(FormDay, first.id)
    assert locked is not None
    return locked


async def purge_progress(ctx: Context) -> None:
    """Delete answers that were not continued for a week, and add where the visitors left to the sums."""
    before = ctx.clock.ahead(-PROGRESS_RETENTION_SECONDS)
    deleted = BATCH_SIZE
    while deleted == BATCH_SIZE:
        async with ctx.unit() as unit:
            deleted = await _delete_progress_batch(unit, before)


async def _delete_progress_batch(ctx: Context, before: Instant) -> int:
    await ctx.unit_of_work.begin()
    system = ctx.system("visitors of every tenant leave")
    expired = await system.rows(_OLD_PROGRESS, before=before)
    dropped_by_day: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for progress in expired:
        key = (progress.tenant_id, progress.form_id, progress.created_at[:10])
        dropped_by_day[key][progress.last_field_id or ""] += 1
    for key, dropped in sorted(dropped_by_day.items(), key=lambda item: item[0]):
        day = await lock_day(system, *key)
        await system.update(day, dropped=dict(Counter(day.dropped) + dropped))
    await system.execute(_DELETE_PROGRESS, ids=list_parameter(progress.id for progress in expired))
    return len(expired)
