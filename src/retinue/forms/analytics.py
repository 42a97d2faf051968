"""What a form's days add up to, with what they do not know of yet."""

from collections import Counter
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from retinue.forms.counting import Tally
from retinue.forms.models import Form, FormConversation, FormConversationStatus, FormDay, Progress, Submission
from retinue.forms.schemas import Analytics, AnalyticsQuery, DayCount, DropOff, SourceCount
from retinue.forms.service import rate
from retinue.kit.clock import instant, moment
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.fields import STATIC, FieldType
from retinue.kit.validation import read_instant

IDLE_S = 30 * 60
"""A visitor who has saved nothing for so long has left."""
MOST_SOURCES = 10
MOST_UNCOUNTED = 2000

_FIRST, _LAST = "0000-01-01", "9999-12-31"
_DAYS = {"24h": 1, "7d": 7, "30d": 30, "90d": 90}

_days, _submissions, _progress = FormDay.__table__, Submission.__table__, Progress.__table__
_conversations = FormConversation.__table__
_of_form = sa.bindparam("form_id", type_=sa.Text())
_first, _last = sa.bindparam("first", type_=sa.Text()), sa.bindparam("last", type_=sa.Text())
_end = sa.bindparam("end", type_=sa.Text())
_BETWEEN = reading(
    FormDay,
    sa.select(_days)
    .where(_days.c.form_id == _of_form, _days.c.day >= _first, _days.c.day <= _last)
    .order_by(_days.c.day),
    heavy=True,
)
_UNCOUNTED = reading(
    Submission,
    sa.select(_submissions)
    .where(_submissions.c.form_id == _of_form, _submissions.c.is_uncounted == sa.true())
    .limit(MOST_UNCOUNTED),
    heavy=True,
)
_idle = sa.bindparam("idle", type_=sa.Text())


def _left(at: sa.Table, field: str, has_left: Any) -> Statement[Any]:
    return Statement(
        sa.select(at.c[field], sa.func.count())
        .where(at.c.form_id == _of_form, has_left, at.c.created_at >= _first, at.c.created_at < _end)
        .group_by(at.c[field]),
        heavy=True,
    )


# On a page, and in a conversation: those that are in no sum of a day yet.
_LEFT = (
    _left(_progress, "last_field_id", _progress.c.updated_at < _idle),
    _left(
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


async def collect(ctx: Context, form: Form, query: AnalyticsQuery) -> Analytics:
    first, last = _period(ctx, query)
    given = {"form_id": form.id, "first": first}
    # An instant of the last day sorts before this.
    end = f"{last}~"
    uncounted = await ctx.db.rows(_UNCOUNTED, form_id=form.id)
    days = await ctx.db.rows(_BETWEEN, last=last, **given)
    dropped: Counter[str] = Counter()
    for statement in _LEFT:
        left = await ctx.db.rows(statement, idle=ctx.clock.ahead(-IDLE_S), end=end, **given)
        dropped.update({id: int(number) for id, number in left if id})
    tally = Tally()
    by_day: Counter[str] = Counter()
    for one in uncounted:
        # Compared here, lest a database goes through a whole period to find the few that are not counted.
        if first <= one.created_at < end:
            tally.add(one)
            by_day[one.created_at[:10]] += 1
    views = starts = 0
    for day in days:
        views, starts = views + day.views, starts + day.starts
        for name in Tally.NUMBERS:
            setattr(tally, name, getattr(tally, name) + getattr(day, name))
        tally.filled.update(day.filled)
        tally.sources.update(day.sources)
        dropped.update(day.dropped)
        by_day[day.day] += day.submissions
    return Analytics(
        total_submissions=tally.submissions,
        total_views=views,
        total_starts=starts,
        conversion_rate=rate(tally.submissions, views),
        avg_completion_time_seconds=round(tally.took_ms / tally.timed / 1000, 1) if tally.timed else None,
        submissions_by_day=[DayCount(date=day, count=by_day[day]) for day in sorted(by_day) if by_day[day]],
        top_sources=[
            SourceCount(source=source, count=count)
            for source, count in tally.sources.most_common(MOST_SOURCES)
        ],
        field_completion_rates={id: rate(tally.filled[id], tally.submissions) for id in _asked(form)},
        drop_off_fields=_drop_offs(form, dropped, starts),
    )


def _asked(form: Form) -> list[str]:
    return [field["id"] for field in form.fields if FieldType(field["type"]) not in STATIC]


def _drop_offs(form: Form, dropped: Counter[str], starts: int) -> list[DropOff]:
    known = set(_asked(form))
    return [
        DropOff(field_id=id, drop_off_rate=rate(number, starts))
        for id, number in dropped.most_common()
        if id in known
    ]


def _period(ctx: Context, query: AnalyticsQuery) -> tuple[str, str]:
    """The first and the last day, in UTC."""
    if query.period in _DAYS:
        since = instant(moment(ctx.now) - timedelta(days=_DAYS[query.period] - 1))
        return since[:10], _LAST
    first = read_instant("from", query.from_.replace(" ", "+"))[:10] if query.from_ else _FIRST
    last = read_instant("to", query.to.replace(" ", "+"))[:10] if query.to else _LAST
    return first, last
