"""What adds up by the day: kept as it happens, so that analytics never go through submissions.

A submission is stored with `is_uncounted`, and a job adds it to its day and to the index of words: those who
submit at once never wait for each other's sums. Whoever reads adds what is not counted yet.
"""

from collections import Counter, defaultdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.forms import searching
from retinue.forms.models import FormDay, Progress, Submission, SubmissionStatus
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, reading
from retinue.kit.jobs.declare import NoPayload, job

BATCH = 250
PROGRESS_KEPT_S = 7 * 24 * 3600

_days, _submissions, _progress = FormDay.__table__, Submission.__table__, Progress.__table__
_UNCOUNTED = reading(
    Submission,
    sa.select(_submissions)
    .where(_submissions.c.is_uncounted == sa.true())
    .order_by(_submissions.c.tenant_id, _submissions.c.form_id, _submissions.c.created_at, _submissions.c.id)
    .limit(BATCH)
    .with_for_update(skip_locked=True),
)
_OLD_PROGRESS = reading(
    Progress,
    sa.select(_progress)
    .where(_progress.c.updated_at < sa.bindparam("before", type_=sa.Text()))
    .limit(BATCH)
    .with_for_update(skip_locked=True),
)
_FORGET_PROGRESS: Statement[Any] = Statement(sa.delete(_progress).where(one_of(_progress.c.id, "ids")))


def _one_more(column: str) -> Statement[Any]:
    names = [name for name in FormDay.__struct_fields__ if name != "tenant_id"]
    given = {name: sa.bindparam(f"new_{name}", type_=_days.c[name].type) for name in names}
    insert = postgresql.insert(_days).values(given)
    changed = {column: _days.c[column] + 1, "updated_at": insert.excluded.updated_at}
    return Statement(insert.on_conflict_do_update(index_elements=["tenant_id", "id"], set_=changed))


_ONE_MORE = {column: _one_more(column) for column in ("views", "starts")}
_MOVE: Statement[Any] = Statement(
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
    """Someone began to answer, on a page or in a conversation."""
    _count(ctx, form_id, "starts")


def _count(ctx: Context, form_id: str, column: str) -> None:
    now = ctx.now
    first = FormDay(id=day_id(form_id, now), form_id=form_id, day=now[:10], created_at=now, updated_at=now)
    values = {
        f"new_{name}": getattr(first, name) for name in FormDay.__struct_fields__ if name != "tenant_id"
    }
    values[f"new_{column}"] = 1
    ctx.db.execute_at_commit(_ONE_MORE[column], **values)


def count_move(ctx: Context, submission: Submission, before: SubmissionStatus) -> None:
    """A submission whose row is locked has another status now; the sums of its day may know of it."""
    after = submission.status
    if submission.is_uncounted or before is after:
        return
    ctx.db.execute_at_commit(
        _MOVE,
        day_id=day_id(submission.form_id, submission.created_at),
        processed_by=_step(before, after, SubmissionStatus.processed),
        archived_by=_step(before, after, SubmissionStatus.archived),
    )


def _step(before: SubmissionStatus, after: SubmissionStatus, status: SubmissionStatus) -> int:
    return int(after is status) - int(before is status)


async def uncount(ctx: Context, submission: Submission) -> None:
    """A submission whose row is locked goes."""
    if submission.is_uncounted:
        return
    day = await ctx.db.lock(FormDay, day_id(submission.form_id, submission.created_at))
    if day is None:
        return
    tally = Tally()
    tally.add(submission)
    changes: dict[str, Any] = {
        name: max(0, getattr(day, name) - getattr(tally, name)) for name in Tally.NUMBERS
    }
    for name in ("filled", "sources"):
        left = Counter(getattr(day, name))
        left.subtract(getattr(tally, name))
        changes[name] = dict(+left)
    await ctx.db.update(day, **changes)


class Tally:
    """What some submissions of one day add up to."""

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


@job(every_s=30, timeout_s=600, transactional=False)
async def count_submissions(ctx: Context, _payload: NoPayload) -> None:
    """Add what came since the last time to the sums of its days and to the index of words."""
    counted = BATCH
    while counted == BATCH:
        async with ctx.unit() as unit:
            counted = await _count_some(unit)


async def _count_some(ctx: Context) -> int:
    await ctx.unit_of_work.begin()
    system = ctx.system("submissions of every tenant are counted")
    found = await system.rows(_UNCOUNTED)
    tallies: defaultdict[tuple[str, str, str], Tally] = defaultdict(Tally)
    for one in found:
        tallies[one.tenant_id, one.form_id, one.created_at[:10]].add(one)
    for key, tally in sorted(tallies.items(), key=lambda item: item[0]):
        day = await hold_day(system, *key)
        changes: dict[str, Any] = {name: getattr(day, name) + getattr(tally, name) for name in Tally.NUMBERS}
        for name in ("filled", "sources"):
            changes[name] = dict(Counter(getattr(day, name)) + getattr(tally, name))
        await system.update(day, **changes)
    await searching.index(system, found)
    return len(found)


async def hold_day(system: SystemDb, tenant_id: str, form_id: str, day: str) -> FormDay:
    """The day's row, made if it was not there, and nobody else's until the transaction ends."""
    first = FormDay(id=day_id(form_id, day), tenant_id=tenant_id, form_id=form_id, day=day)
    await system.insert_missing(first)
    held = await system.lock(FormDay, first.id)
    assert held is not None
    return held


@job(every_s=3600, timeout_s=600, transactional=False)
async def forget_progress(ctx: Context, _payload: NoPayload) -> None:
    """Answers that nobody came back to for a week go; where their visitors left is added to the sums."""
    before = ctx.clock.ahead(-PROGRESS_KEPT_S)
    forgotten = BATCH
    while forgotten == BATCH:
        async with ctx.unit() as unit:
            forgotten = await _forget_some(unit, before)


async def _forget_some(ctx: Context, before: Instant) -> int:
    await ctx.unit_of_work.begin()
    system = ctx.system("visitors of every tenant leave")
    found = await system.rows(_OLD_PROGRESS, before=before)
    left: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for one in found:
        left[one.tenant_id, one.form_id, one.created_at[:10]][one.last_field_id or ""] += 1
    for key, dropped in sorted(left.items(), key=lambda item: item[0]):
        day = await hold_day(system, *key)
        await system.update(day, dropped=dict(Counter(day.dropped) + dropped))
    await system.execute(_FORGET_PROGRESS, ids=listed(one.id for one in found))
    return len(found)
