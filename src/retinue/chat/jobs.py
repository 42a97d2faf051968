"""Periodic jobs: close idle conversations, roll old logs up into totals, delete old jobs and leases."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.agents.models import Agent
from retinue.chat.completion_event import emit_chat_completed
from retinue.chat.engine import MAX_TURN_SECONDS
from retinue.chat.engine.function_vectors import EMBED_FUNCTIONS, embed_functions, purge_function_vectors
from retinue.chat.event_erasure import erase_agent_events, erase_conversation_events
from retinue.chat.function_index import index_functions
from retinue.chat.job_kinds import (
    ANSWER_TURN,
    ERASE_AGENT_EVENTS,
    ERASE_CONVERSATION_EVENTS,
    INDEX_FUNCTIONS,
    MAKE_TITLE,
    RESUME_TURN,
)
from retinue.chat.models import ChatJob, ChatLog, ChatTotals, Conversation, ConversationStatus, TurnStatus
from retinue.chat.queries import TURN_IN_USE
from retinue.chat.replies.after_approval import fail_lost_resumptions, resume_turn
from retinue.chat.replies.background import answer_turn, fail_lost_turns
from retinue.chat.replies.followers import purge_stream_followers
from retinue.chat.statistics import ACTIVE_SECONDS
from retinue.chat.titles import make_title
from retinue.kit.clock import hour_of
from retinue.kit.context import Context
from retinue.kit.db.inline_text import InlineText
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import implement, periodic

_DAY_SECONDS = 86_400
_JOB_RETENTION_DAYS = 7
_BATCH_SIZE = 500

_conversations, _logs, _jobs = Conversation.__table__, ChatLog.__table__, ChatJob.__table__
_totals = ChatTotals.__table__

_IDLE_CONVERSATIONS = Statement(
    sa.select(_conversations.c.tenant_id, _conversations.c.id)
    .where(
        _conversations.c.status == InlineText(ConversationStatus.active.value),
        _conversations.c.last_message_hour <= sa.bindparam("hour"),
        _conversations.c.last_message_at < sa.bindparam("before"),
    )
    .order_by(_conversations.c.last_message_hour)
    .limit(_BATCH_SIZE)
)
_CLOSE = Statement(
    sa.update(_conversations)
    .where(
        _conversations.c.id == sa.bindparam("conversation_id"),
        _conversations.c.status == ConversationStatus.active.value,
        _conversations.c.last_message_at < sa.bindparam("before"),
    )
    .values(status=ConversationStatus.closed.value)
    .returning(_conversations.c.agent_id)
)
_OLD = sa.and_(_logs.c.agent_id == sa.bindparam("agent_id"), _logs.c.created_at < sa.bindparam("before"))
_day = sa.func.substr(_logs.c.created_at, 1, len("2026-11-15")).label("day")
_old_logs = (
    sa.select(
        _day,
        sa.case((_logs.c.status == TurnStatus.failed.value, 1), else_=0).label("failed"),
        _logs.c.message_count,
        (_logs.c.prompt_tokens + _logs.c.completion_tokens).label("tokens"),
        _logs.c.tool_call_count,
        _logs.c.response_time_ms,
        _logs.c.cost_usd,
    )
    .where(_OLD, TURN_IN_USE)
    .subquery()
)
_SUMS = ("failed", "message_count", "tokens", "tool_call_count", "response_time_ms", "cost_usd")
_SUM_OLD_LOGS = Statement(
    sa.select(_old_logs.c.day, sa.func.count(), *(sa.func.sum(_old_logs.c[name]) for name in _SUMS)).group_by(
        _old_logs.c.day
    ),
    heavy=True,
)
_PURGE = Statement(sa.delete(_logs).where(_OLD))
_TOTAL_COLUMNS = ("turns", "failed", "messages", "tokens", "tool_calls", "time_ms", "cost_usd")


def _totals_statement() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_totals.c[name].type)
        for name in ChatTotals.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(_totals).values(given)
    added = {name: _totals.c[name] + insert.excluded[name] for name in _TOTAL_COLUMNS}
    return Statement(
        insert.on_conflict_do_update(index_elements=["tenant_id", "agent_id", "day"], set_=added)
    )


_ADD_TO_TOTALS = _totals_statement()
_PURGE_JOBS = Statement(sa.delete(_jobs).where(_jobs.c.completed_at < sa.bindparam("before")))


async def close_idle_conversations(ctx: Context) -> None:
    before = ctx.clock.ahead(-ACTIVE_SECONDS)
    for tenant_id, id in await ctx.system("conversations of every tenant").rows(
        _IDLE_CONVERSATIONS, before=before, hour=hour_of(before)
    ):
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            for (agent_id,) in await unit.db.execute(_CLOSE, conversation_id=id, before=before):
                await emit_chat_completed(unit, id, agent_id, "idle_timeout")


async def purge_chat_logs(ctx: Context) -> None:
    """Delete log entries older than the agent's `retention_days` (0 keeps them), and old jobs."""
    agents = await ctx.system("agents of every tenant").all(Agent)
    for agent in agents:
        days = agent.log_settings.retention_days
        if days:
            async with ctx.unit() as unit:
                unit.bind_tenant(agent.tenant_id)
                await _purge(unit, agent.id, unit.clock.ahead(-days * _DAY_SECONDS))
    async with ctx.unit() as unit:
        await unit.system("jobs of every tenant").execute(
            _PURGE_JOBS, before=unit.clock.ahead(-_JOB_RETENTION_DAYS * _DAY_SECONDS)
        )


async def _purge(unit: Context, agent_id: str, before: str) -> None:
    await unit.unit_of_work.begin()
    for day, *sums in await unit.db.rows(_SUM_OLD_LOGS, agent_id=agent_id, before=before):
        now = unit.now
        await unit.db.execute(
            _ADD_TO_TOTALS,
            id=new_id(ChatTotals.__prefix__),
            created_at=now,
            updated_at=now,
            agent_id=agent_id,
            day=day,
            **dict(zip(_TOTAL_COLUMNS, map(_to_number, sums), strict=True)),
        )
    await unit.db.execute(_PURGE, agent_id=agent_id, before=before)


def _to_number(value: Any) -> Any:
    """Convert a sum to a number: PostgreSQL returns sums of integers as decimals."""
    return value if isinstance(value, float) else int(value)


JOBS = (
    implement(ERASE_CONVERSATION_EVENTS, erase_conversation_events, timeout_s=1800, transactional=False),
    implement(ERASE_AGENT_EVENTS, erase_agent_events, timeout_s=1800, transactional=False),
    periodic(
        "chat.close_idle_conversations",
        close_idle_conversations,
        every_s=60,
        transactional=False,
    ),
    periodic(
        "chat.purge_logs",
        purge_chat_logs,
        every_s=_DAY_SECONDS,
        timeout_s=3600,
        transactional=False,
    ),
    periodic("chat.purge_stream_followers", purge_stream_followers, every_s=3600),
    implement(INDEX_FUNCTIONS, index_functions, timeout_s=1800, transactional=False),
    implement(EMBED_FUNCTIONS, embed_functions, timeout_s=1800, transactional=False),
    periodic("chat.purge_function_vectors", purge_function_vectors, every_s=_DAY_SECONDS),
    implement(ANSWER_TURN, answer_turn, timeout_s=MAX_TURN_SECONDS + 30, transactional=False),
    periodic(
        "chat.fail_lost_turns",
        fail_lost_turns,
        every_s=300,
        transactional=False,
    ),
    implement(MAKE_TITLE, make_title, timeout_s=120, transactional=False),
    implement(RESUME_TURN, resume_turn, timeout_s=MAX_TURN_SECONDS + 30, transactional=False),
    periodic(
        "chat.fail_lost_resumptions",
        fail_lost_resumptions,
        every_s=300,
        transactional=False,
    ),
)
