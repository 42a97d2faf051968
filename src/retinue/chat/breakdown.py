"""The course of an agent's figures over time, and the models and tools that its turns used."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.agents.schemas import StatsPeriod
from retinue.chat import statistics
from retinue.chat.engine.parts import CallStatus
from retinue.chat.figures import PERIOD_HOURS, buckets_of, value_at
from retinue.chat.models import ChatLog, ChatTotals, Conversation, Message, TurnStatus
from retinue.chat.queries import CONVERSATION_IN_USE, TURN_IN_USE
from retinue.chat.statistics_schemas import (
    AgentBreakdown,
    ModelUse,
    StatsPoint,
    ToolUse,
)
from retinue.kit.context import Context
from retinue.kit.db.json_items import json_field, json_items
from retinue.kit.db.statements import Statement
from retinue.usage import periods

MAX_LISTED = 50
_DAY_LENGTH = len("2026-11-15")
_FAILURES = (CallStatus.failed, CallStatus.timeout)

_logs, _totals = ChatLog.__table__, ChatTotals.__table__
_messages, _conversations = Message.__table__, Conversation.__table__
_AGENT: Any = sa.bindparam("agent_id")
_SINCE: Any = sa.bindparam("since")
_LOGS_SINCE = (_logs.c.agent_id == _AGENT, _logs.c.created_at >= _SINCE, TURN_IN_USE)


def _bucket(column: Any, width: int) -> Any:
    """Return the day or hour of an instant: its first characters."""
    return sa.func.substr(column, sa.literal(1), sa.literal(width)).label("bucket")


def _turns(width: int) -> Statement[Any]:
    # Subqueries, so that an expression with parameters stands in the statement once.
    turns = (
        sa.select(
            _bucket(_logs.c.created_at, width),
            _logs.c.status,
            (_logs.c.prompt_tokens + _logs.c.completion_tokens).label("tokens"),
            _logs.c.cost_usd,
            _logs.c.response_time_ms,
        )
        .where(*_LOGS_SINCE)
        .subquery()
    )
    group = (turns.c.bucket, turns.c.status)
    ranked = sa.select(
        *turns.c,
        sa.func.row_number().over(partition_by=group, order_by=turns.c.response_time_ms).label("rank"),
        sa.func.count().over(partition_by=group).label("turns"),
    ).subquery()
    is_completed = ranked.c.status == sa.literal(TurnStatus.completed.value)
    times = (ranked.c.response_time_ms, ranked.c.rank, ranked.c.turns, is_completed)
    return Statement(
        sa.select(
            ranked.c.bucket,
            sa.func.count(),
            sa.func.sum(sa.case((ranked.c.status == sa.literal(TurnStatus.failed.value), 1), else_=0)),
            sa.func.sum(ranked.c.tokens),
            sa.func.sum(ranked.c.cost_usd),
            value_at(50, *times),
            value_at(95, *times),
        ).group_by(ranked.c.bucket),
        heavy=True,
    )


def _ratings(width: int) -> Statement[Any]:
    rated = (
        sa.select(_bucket(_messages.c.created_at, width), _messages.c.rating)
        .join_from(_messages, _conversations, _conversations.c.id == _messages.c.conversation_id)
        .where(
            _messages.c.rating != 0,
            _messages.c.created_at >= _SINCE,
            _conversations.c.agent_id == _AGENT,
            CONVERSATION_IN_USE,
        )
        .subquery()
    )
    return Statement(
        sa.select(rated.c.bucket, rated.c.rating, sa.func.count()).group_by(rated.c.bucket, rated.c.rating),
        heavy=True,
    )


_WIDTHS = (_DAY_LENGTH, len("2026-11-15T08"))
_TURNS = {width: _turns(width) for width in _WIDTHS}
_RATINGS = {width: _ratings(width) for width in _WIDTHS}
_PURGED = Statement(
    sa.select(_totals.c.day, _totals.c.turns, _totals.c.failed, _totals.c.tokens, _totals.c.cost_usd).where(
        _totals.c.agent_id == _AGENT, _totals.c.day >= _SINCE
    )
)


def _models() -> Statement[ModelUse]:
    spendings = json_items(_logs.c.usage_by_model)
    counts = ("calls", "total_tokens", "cached_tokens")
    cost = json_field(spendings, "estimated_cost_usd")
    used = (
        sa.select(
            json_field(spendings, "model").label("model"),
            *(sa.cast(json_field(spendings, name), sa.BigInteger()).label(name) for name in counts),
            sa.cast(cost, sa.Double()).label("cost"),
        )
        .select_from(_logs, spendings)
        .where(*_LOGS_SINCE)
        .subquery()
    )
    unpriced = sa.func.sum(sa.case((used.c.cost.is_(None), used.c.calls), else_=0))
    tokens = sa.func.sum(used.c.total_tokens)
    query = sa.select(
        used.c.model,
        sa.func.sum(used.c.calls),
        unpriced,
        tokens,
        sa.func.sum(used.c.cached_tokens),
        sa.func.sum(used.c.cost),
    )
    return Statement(
        query.group_by(used.c.model).order_by(tokens.desc(), used.c.model), _model_use, heavy=True
    )


def _model_use(row: Any) -> ModelUse:
    model, calls, unpriced, tokens, cached, cost = row
    return ModelUse(
        model=model,
        calls=int(calls),
        unpriced_calls=int(unpriced),
        tokens=int(tokens),
        cached_tokens=int(cached),
        estimated_cost_usd=None if cost is None else round(float(cost), 9),
    )


def _tools() -> Statement[ToolUse]:
    calls = json_items(_logs.c.tool_calls)
    called = (
        sa.select(
            json_field(calls, "tool").label("tool"),
            json_field(calls, "tool_id").label("tool_id"),
            json_field(calls, "status").label("status"),
            sa.cast(json_field(calls, "execution_time_ms"), sa.BigInteger()).label("time_ms"),
        )
        .select_from(_logs, calls)
        .where(*_LOGS_SINCE)
        .subquery()
    )
    count = sa.func.count()
    is_failed = sa.or_(*(called.c.status == sa.literal(status.value) for status in _FAILURES))
    failed = sa.func.sum(sa.case((is_failed, 1), else_=0))
    query = sa.select(called.c.tool, called.c.tool_id, count, failed, sa.func.sum(called.c.time_ms))
    return Statement(
        query.group_by(called.c.tool, called.c.tool_id)
        .order_by(count.desc(), called.c.tool)
        .limit(MAX_LISTED),
        _tool_use,
        heavy=True,
    )


def _tool_use(row: Any) -> ToolUse:
    tool, tool_id, calls, failed, time_ms = row
    return ToolUse(
        tool=tool,
        tool_id=tool_id,
        calls=int(calls),
        failed_calls=int(failed),
        avg_execution_time_ms=round(int(time_ms or 0) / int(calls)),
    )


_MODELS, _TOOLS = _models(), _tools()


async def collect(ctx: Context, agent: Agent, period: StatsPeriod) -> AgentBreakdown:
    given = {"agent_id": agent.id, "since": ctx.clock.ahead(-PERIOD_HOURS[period] * 3600)}
    models = await ctx.db.rows(_MODELS, **given)
    return AgentBreakdown.of(
        await statistics.collect(ctx, agent, period),
        unpriced_calls=sum(used.unpriced_calls for used in models),
        series=await _load_series(ctx, period, given),
        models=models[:MAX_LISTED],
        tools=await ctx.db.rows(_TOOLS, **given),
    )


async def _load_series(ctx: Context, period: StatsPeriod, parameters: dict[str, str]) -> list[StatsPoint]:
    names = buckets_of(ctx, period)
    width = len(names[0])
    points = {name: StatsPoint(start=periods.start_of(name)) for name in names}
    for name, chats, failed, tokens, cost, p50, p95 in await ctx.db.rows(_TURNS[width], **parameters):
        if (point := points.get(name)) is not None:
            _add(point, chats, failed, tokens, cost)
            point.p50_response_time_ms, point.p95_response_time_ms = p50, p95
    # Deleted logs are counted by days; they are older than the hours of a day.
    if width == _DAY_LENGTH:
        since = parameters["since"][:_DAY_LENGTH]
        for day, *sums in await ctx.db.rows(_PURGED, agent_id=parameters["agent_id"], since=since):
            if (point := points.get(day)) is not None:
                _add(point, *sums)
    for name, rating, count in await ctx.db.rows(_RATINGS[width], **parameters):
        if (point := points.get(name)) is not None and rating > 0:
            point.likes = int(count)
        elif point is not None:
            point.dislikes = int(count)
    return list(points.values())


def _add(point: StatsPoint, chats: Any, failed: Any, tokens: Any, cost: Any) -> None:
    point.chats += int(chats)
    point.failed_chats += int(failed)
    point.tokens += int(tokens)
    point.estimated_cost_usd = round(point.estimated_cost_usd + float(cost), 9)
