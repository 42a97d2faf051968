"""Figures of many agents at once, and percentiles: from the logs of a period."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.schemas import AgentRowStats, StatsPeriod
from retinue.chat.models import ChatLog, Conversation, Message, TurnStatus
from retinue.chat.queries import CONVERSATION_IN_USE, TURN_IN_USE
from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement

PERIOD_HOURS: dict[StatsPeriod, int] = {"24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24}

_logs, _messages, _conversations = ChatLog.__table__, Message.__table__, Conversation.__table__
_SINCE: Any = sa.bindparam("since")
_OF_AGENTS = (in_list(_logs.c.agent_id, "agent_ids"), _logs.c.created_at >= _SINCE, TURN_IN_USE)


class Percentiles(msgspec.Struct, frozen=True):
    """Percentiles of the completed turns whose logs are kept; None without any."""

    p95_response_time_ms: int | None = None
    p95_first_token_ms: int | None = None
    p50_response_time_ms: int | None = None
    p50_first_token_ms: int | None = None
    cached_tokens: int = 0


def value_at(percent: int, value: Any, rank: Any, count: Any, is_counted: Any) -> Any:
    """Return the value at a percentile by nearest rank: of 20 values the 19th is the 95th, of 19 as well."""
    is_there = sa.and_(is_counted, rank * 100 >= count * percent, rank * 100 < count * percent + 100)
    return sa.func.max(sa.case((is_there, value)))


def _figures() -> Statement[Any]:
    """Sums and percentiles by nearest rank; SQLite has no function for percentiles."""
    group = (_logs.c.agent_id, _logs.c.status)
    ranked = (
        sa.select(
            _logs.c.agent_id,
            _logs.c.status,
            _logs.c.response_time_ms,
            _logs.c.first_token_ms,
            (_logs.c.prompt_tokens + _logs.c.completion_tokens).label("tokens"),
            _logs.c.cached_tokens,
            _logs.c.cost_usd,
            sa.func.row_number().over(partition_by=group, order_by=_logs.c.response_time_ms).label("by_time"),
            sa.func.count().over(partition_by=group).label("turns"),
            sa.func.row_number()
            .over(partition_by=group, order_by=_logs.c.first_token_ms.asc().nulls_last())
            .label("by_first"),
            sa.func.count(_logs.c.first_token_ms).over(partition_by=group).label("streamed"),
        )
        .where(*_OF_AGENTS)
        .subquery()
    )
    is_completed = ranked.c.status == sa.literal(TurnStatus.completed.value)
    is_failed = ranked.c.status == sa.literal(TurnStatus.failed.value)

    times = (ranked.c.response_time_ms, ranked.c.by_time, ranked.c.turns, is_completed)
    first_tokens = (ranked.c.first_token_ms, ranked.c.by_first, ranked.c.streamed, is_completed)
    return Statement(
        sa.select(
            ranked.c.agent_id,
            sa.func.count(),
            sa.func.sum(sa.case((is_failed, 1), else_=0)),
            sa.func.sum(ranked.c.tokens),
            sa.func.sum(ranked.c.cached_tokens),
            sa.func.sum(ranked.c.cost_usd),
            value_at(95, *times),
            value_at(95, *first_tokens),
            value_at(50, *times),
            value_at(50, *first_tokens),
        ).group_by(ranked.c.agent_id),
        heavy=True,
    )


def _series(width: int) -> Statement[Any]:
    """Chats by the first characters of their instant: 10 for a day, 13 for an hour."""
    bucket = sa.func.substr(_logs.c.created_at, sa.literal(1), sa.literal(width)).label("bucket")
    # A subquery, so that the expression with its parameters stands in the statement once.
    buckets = sa.select(_logs.c.agent_id, bucket).where(*_OF_AGENTS).subquery()
    return Statement(
        sa.select(buckets.c.agent_id, buckets.c.bucket, sa.func.count()).group_by(
            buckets.c.agent_id, buckets.c.bucket
        ),
        heavy=True,
    )


_FIGURES = _figures()
_SERIES = {width: _series(width) for width in (10, 13)}
_RATINGS = Statement(
    sa.select(_conversations.c.agent_id, _messages.c.rating, sa.func.count())
    .join_from(_messages, _conversations, _conversations.c.id == _messages.c.conversation_id)
    .where(
        _messages.c.rating != 0,
        _messages.c.created_at >= _SINCE,
        in_list(_conversations.c.agent_id, "agent_ids"),
        CONVERSATION_IN_USE,
    )
    .group_by(_conversations.c.agent_id, _messages.c.rating),
    heavy=True,
)


async def load_figures(
    ctx: Context, agent_ids: Sequence[str], period: StatsPeriod
) -> dict[str, AgentRowStats]:
    """Return the figures of these agents, in three queries however many they are."""
    buckets = buckets_of(ctx, period)
    width = len(buckets[0])
    loaded = {id: AgentRowStats(period=period, series=[0] * len(buckets)) for id in agent_ids}
    given = {"agent_ids": list_parameter(agent_ids), "since": ctx.clock.ahead(-PERIOD_HOURS[period] * 3600)}
    for row in await ctx.db.rows(_FIGURES, **given):
        stats = loaded[row[0]]
        stats.chats, stats.failed_chats, stats.tokens, stats.cached_tokens = (int(sum) for sum in row[1:5])
        stats.estimated_cost_usd = round(float(row[5]), 9)
        stats.p95_response_time_ms, stats.p95_first_token_ms = row[6:8]
    for agent_id, bucket, count in await ctx.db.rows(_SERIES[width], **given):
        # What began before the first whole day or hour is in the sums only.
        if bucket in buckets:
            loaded[agent_id].series[buckets.index(bucket)] = int(count)
    for agent_id, rating, count in await ctx.db.rows(_RATINGS, **given):
        if rating > 0:
            loaded[agent_id].likes = int(count)
        else:
            loaded[agent_id].dislikes = int(count)
    return loaded


async def load_percentiles(ctx: Context, agent_id: str, since: str) -> Percentiles:
    row = await ctx.db.first(_FIGURES, agent_ids=list_parameter([agent_id]), since=since)
    if row is None:
        return Percentiles()
    p95_response, p95_first, p50_response, p50_first = row[6:10]
    return Percentiles(p95_response, p95_first, p50_response, p50_first, int(row[4]))


def buckets_of(ctx: Context, period: StatsPeriod) -> list[str]:
    """Return the days or hours of a period as they begin an instant, the current one last."""
    hours, now = PERIOD_HOURS[period], parse_instant(ctx.now)
    step, width = (timedelta(hours=1), 13) if hours <= 24 else (timedelta(days=1), 10)
    count = round(timedelta(hours=hours) / step)
    return [(now - step * ago).isoformat()[:width] for ago in range(count - 1, -1, -1)]
