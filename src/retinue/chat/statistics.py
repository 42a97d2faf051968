"""Statistics of an agent's turns: the logs of the period plus the totals of purged logs."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.chat.figures import load_percentiles
from retinue.chat.models import ChatLog, ChatTotals, Conversation, Message, TurnStatus
from retinue.chat.queries import CONVERSATION_IN_USE, TURN_IN_USE, count_active
from retinue.chat.schemas import (
    StatusOut,
    TrainingOut,
)
from retinue.chat.statistics_schemas import (
    AgentStats,
    Period,
)
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.knowledge.service import load_training
from retinue.providers.model_resolution import is_configured

ACTIVE_SECONDS = 30 * 60
_HOURS: dict[Period, int] = {"24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24}

_logs, _totals = ChatLog.__table__, ChatTotals.__table__
_conversations, _messages = Conversation.__table__, Message.__table__
_failed = sa.case((_logs.c.status == TurnStatus.failed.value, 1), else_=0)
_AGENT: Any = sa.bindparam("agent_id")
_SINCE: Any = sa.bindparam("since")

# Both statements return the same columns: turns, failed, messages, tokens, tool calls, time, cost.
_LOGGED = Statement(
    sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(_failed), 0),
        sa.func.coalesce(sa.func.sum(_logs.c.message_count), 0),
        sa.func.coalesce(sa.func.sum(_logs.c.prompt_tokens + _logs.c.completion_tokens), 0),
        sa.func.coalesce(sa.func.sum(_logs.c.tool_call_count), 0),
        sa.func.coalesce(sa.func.sum(_logs.c.response_time_ms), 0),
        sa.func.coalesce(sa.func.sum(_logs.c.cost_usd), 0.0),
    ).where(_logs.c.agent_id == _AGENT, _logs.c.created_at >= _SINCE, TURN_IN_USE),
    heavy=True,
)
_PURGED = Statement(
    sa.select(
        *(
            sa.func.coalesce(sa.func.sum(_totals.c[name]), 0)
            for name in ("turns", "failed", "messages", "tokens", "tool_calls", "time_ms", "cost_usd")
        )
    ).where(_totals.c.agent_id == _AGENT, _totals.c.day >= _SINCE)
)
_CONVERSATIONS = Statement(
    sa.select(sa.func.count())
    .select_from(_conversations)
    .where(_conversations.c.agent_id == _AGENT, _conversations.c.created_at >= _SINCE, CONVERSATION_IN_USE),
    heavy=True,
)
_FEEDBACK = Statement(
    sa.select(_messages.c.rating, sa.func.count())
    .where(
        _messages.c.rating != 0,
        _messages.c.created_at >= _SINCE,
        _messages.c.conversation_id.in_(
            sa.select(_conversations.c.id).where(_conversations.c.agent_id == _AGENT, CONVERSATION_IN_USE)
        ),
    )
    .group_by(_messages.c.rating),
    heavy=True,
)


async def collect(ctx: Context, agent: Agent, period: Period) -> AgentStats:
    since = ctx.clock.ahead(-_HOURS[period] * 3600) if period in _HOURS else ""
    logged = await ctx.db.first(_LOGGED, agent_id=agent.id, since=since)
    purged = await ctx.db.first(_PURGED, agent_id=agent.id, since=since[:10])
    assert logged is not None
    assert purged is not None
    turns, failed, messages, tokens, tool_calls, time_ms, cost = (
        logged_sum + purged_sum for logged_sum, purged_sum in zip(logged, purged, strict=True)
    )
    ratings = {row[0]: int(row[1]) for row in await ctx.db.rows(_FEEDBACK, agent_id=agent.id, since=since)}
    timed = await load_percentiles(ctx, agent.id, since)
    return AgentStats(
        agent_id=agent.id,
        total_conversations=int(await ctx.db.scalar(_CONVERSATIONS, agent_id=agent.id, since=since)),
        total_messages=int(messages),
        total_tokens_used=int(tokens),
        avg_response_time_ms=round(time_ms / turns) if turns else 0,
        period=period,
        successful_messages=int(turns - failed),
        failed_messages=int(failed),
        tool_calls=int(tool_calls),
        positive_feedback=ratings.get(1, 0),
        negative_feedback=ratings.get(-1, 0),
        estimated_cost_usd=round(float(cost), 9),
        p50_response_time_ms=timed.p50_response_time_ms,
        p95_response_time_ms=timed.p95_response_time_ms,
        p50_first_token_ms=timed.p50_first_token_ms,
        p95_first_token_ms=timed.p95_first_token_ms,
        cached_tokens=timed.cached_tokens,
    )


async def _can_answer(ctx: Context, agent: Agent) -> bool:
    for model in (agent.primary_model, *agent.fallback_models):
        if await is_configured(ctx, model):
            return True
    return False


async def status(ctx: Context, agent: Agent) -> StatusOut:
    progress = await load_training(ctx, agent.knowledge_base_id)
    is_training = progress.status == "training"
    is_online = agent.status is AgentStatus.published and await _can_answer(ctx, agent)
    return StatusOut(
        agent_id=agent.id,
        status="training" if is_training else agent.status,
        is_online=is_online,
        active_conversations=await count_active(ctx, agent.id, ctx.clock.ahead(-ACTIVE_SECONDS)),
        training=TrainingOut.of(progress),
    )
