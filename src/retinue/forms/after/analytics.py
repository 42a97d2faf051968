"""Form analytics: the daily sums plus the submissions that are not counted yet."""

from collections import Counter
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from retinue.forms.after.daily_counts import SubmissionTally
from retinue.forms.models import Form, FormConversation, FormConversationStatus, FormDay, Progress, Submission
from retinue.forms.schemas import Analytics, AnalyticsQuery, DayCount, DropOff, SourceCount
from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.schema.fields import STATIC, FieldType
from retinue.kit.schema.validation import read_instant

ABANDONED_AFTER_SECONDS = 30 * 60
"""A visitor who has saved nothing for this long counts as gone."""
MAX_SOURCES = 10
MAX_UNCOUNTED_SUBMISSIONS = 2000

_MIN_DAY, _MAX_DAY = "0000-01-01", "9999-12-31"
_PERIOD_DAYS = {"24h": 1, "7d": 7, "30d": 30, "90d": 90}

_days, _submissions, _progress = FormDay.__table__, Submission.__table__, Progress.__table__
_conversations = FormConversation.__table__
_of_form = sa.bindparam("form_id", type_=sa.Text())
_first, _last = sa.bindparam("first", type_=sa.Text()), sa.bindparam("last", type_=sa.Text())
_end = sa.bindparam("end", type_=sa.Text())
_DAYS_BETWEEN = record_statement(
    FormDay,
    sa.select(_days)
    .where(_days.c.form_id == _of_form, _days.c.day >= _first, _days.c.day <= _last)
    .order_by(_days.c.day),
    heavy=True,
)
_UNCOUNTED = record_statement(
    Submission,
    sa.select(_submissions)
    .where(_submissions.c.form_id == _of_form, _submissions.c.is_uncounted == sa.true())
    .limit(MAX_UNCOUNTED_SUBMISSIONS),
    heavy=True,
)
_idle = sa.bindparam("idle", type_=sa.Text())


def percentage(part: int, whole: int) -> float:
    """Return a percentage of at most 100."""
    return min(100.0, round(100 * part / whole, 1)) if whole else 0.0


def _drop_off_statement(at: sa.Table, field: str, has_left: Any) -> Statement[Any]:
    return Statement(
        sa.select(at.c[field], sa.func.count())
        .where(at.c.form_id == _of_form, has_left, at.c.created_at >= _first, at.c.created_at < _end)
        .group_by(at.c[field]),
        heavy=True,
    )


# Drop-offs on the page and in conversations that are not in the daily sums yet.
_DROP_OFFS_BY_FIELD = (
    _drop_off_statement(_progress, "last_field_id", _progress.c.updated_at < _idle),
    _drop_off_statement(
        _conversations,
        "asked",
        sa.or_(
            _conversations.c.status.in_(
                [
                    sa.literal(FormConversationStatus.cancelled.value),
                    sa.literal(FormConversationStatus.abandoned.value),
                ]
            ),
            sa.and_(
                _conversations.c.status == sa.literal(FormConversationStatus.active.value),
                _conversations.c.updated_at < _idle,
            ),
        ),
    ),
)


async def count_answers(ctx: Context, form: Form) -> dict[str, int]:
    """Return how often each field was answered, also of fields that the form no longer has."""
    tally = SubmissionTally()
    for submission in await ctx.db.rows(_UNCOUNTED, form_id=form.id):
        tally.add(submission)
    for day in await ctx.db.rows(_DAYS_BETWEEN, form_id=form.id, first=_MIN_DAY, last=_MAX_DAY):
        tally.filled.update(day.filled)
    return dict(tally.filled)


async def load_analytics(ctx: Context, form: Form, query: AnalyticsQuery) -> Analytics:
    first, last = _period(ctx, query)
    given = {"form_id": form.id, "first": first}
    # Sorts after every instant of the last day.
    end = f"{last}~"
    uncounted = await ctx.db.rows(_UNCOUNTED, form_id=form.id)
    days = await ctx.db.rows(_DAYS_BETWEEN, last=last, **given)
    dropped: Counter[str] = Counter()
    for statement in _DROP_OFFS_BY_FIELD:
        left = await ctx.db.rows(statement, idle=ctx.clock.ahead(-ABANDONED_AFTER_SECONDS), end=end, **given)
        dropped.update({id: int(number) for id, number in left if id})
    tally = SubmissionTally()
    by_day: Counter[str] = Counter()
    for submission in uncounted:
        # Filtered here: with the period in the query, a database would scan all submissions of the period.
        if first <= submission.created_at < end:
            tally.add(submission)
            by_day[submission.created_at[:10]] += 1
    views = starts = 0
    for day in days:
        views, starts = views + day.views, starts + day.starts
        for name in SubmissionTally.NUMBERS:
            setattr(tally, name, getattr(tally, name) + getattr(day, name))
        tally.filled.update(day.filled)
        tally.sources.update(day.sources)
        dropped.update(day.dropped)
        by_day[day.day] += day.submissions
    return Analytics(
        total_submissions=tally.submissions,
        total_views=views,
        total_starts=starts,
        conversion_rate=percentage(tally.submissions, views),
        avg_completion_time_seconds=round(tally.took_ms / tally.timed / 1000, 1) if tally.timed else None,
        submissions_by_day=[DayCount(date=day, count=by_day[day]) for day in sorted(by_day) if by_day[day]],
        top_sources=[
            SourceCount(source=source, count=count)
            for source, count in tally.sources.most_common(MAX_SOURCES)
        ],
        field_completion_rates={
            id: percentage(tally.filled[id], tally.submissions) for id in _input_field_ids(form)
        },
        drop_off_fields=_drop_offs(form, dropped, starts),
    )


def _input_field_ids(form: Form) -> list[str]:
    return [field["id"] for field in form.fields if FieldType(field["type"]) not in STATIC]


def _drop_offs(form: Form, dropped: Counter[str], starts: int) -> list[DropOff]:
    current_ids = set(_input_field_ids(form))
    return [
        DropOff(field_id=id, drop_off_rate=percentage(number, starts))
        for id, number in dropped.most_common()
        if id in current_ids
    ]


def _period(ctx: Context, query: AnalyticsQuery) -> tuple[str, str]:
    """Return the first and the last day, in UTC."""
    if query.period in _PERIOD_DAYS:
        since = to_instant(parse_instant(ctx.now) - timedelta(days=_PERIOD_DAYS[query.period] - 1))
        return since[:10], _MAX_DAY
    first = read_instant("from", query.from_.replace(" ", "+"))[:10] if query.from_ else _MIN_DAY
    last = read_instant("to", query.to.replace(" ", "+"))[:10] if query.to else _MAX_DAY
    return first, last
