"""What happens by itself: silent conversations end, old logs become totals, old jobs go."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.agents.models import Agent
from retinue.chat.completing import tell_completed
from retinue.chat.models import ChatJob, ChatLog, ChatTotals, Conversation, ConversationStatus, TurnStatus
from retinue.chat.statistics import ACTIVE_S
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import NoPayload, job

_DAY_S = 86_400
_JOBS_KEPT_DAYS = 7
_BATCH = 500

_conversations, _logs, _jobs = Conversation.__table__, ChatLog.__table__, ChatJob.__table__
_agents, _totals = Agent.__table__, ChatTotals.__table__

_SILENT: Statement[Any] = Statement(
    sa.select(_conversations.c.tenant_id, _conversations.c.id)
    .where(
        _conversations.c.status == ConversationStatus.active.value,
        _conversations.c.last_message_at < sa.bindparam("before"),
    )
    .order_by(_conversations.c.tenant_id)
    .limit(_BATCH)
)
_CLOSE: Statement[Any] = Statement(
    sa.update(_conversations)
    .where(
        _conversations.c.id == sa.bindparam("conversation_id"),
        _conversations.c.status == ConversationStatus.active.value,
        _conversations.c.last_message_at < sa.bindparam("before"),
    )
    .values(status=ConversationStatus.closed.value)
    .returning(_conversations.c.agent_id)
)
_LOGGING_AGENTS: Statement[Any] = Statement(
    sa.select(_agents.c.tenant_id, _agents.c.id, _agents.c.log_settings).order_by(_agents.c.id)
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
    .where(_OLD)
    .subquery()
)
_SUMS = ("failed", "message_count", "tokens", "tool_call_count", "response_time_ms", "cost_usd")
_ADD_UP: Statement[Any] = Statement(
    sa.select(_old_logs.c.day, sa.func.count(), *(sa.func.sum(_old_logs.c[name]) for name in _SUMS)).group_by(
        _old_logs.c.day
    ),
    heavy=True,
)
_PURGE: Statement[Any] = Statement(sa.delete(_logs).where(_OLD))
_KEPT = ("turns", "failed", "messages", "tokens", "tool_calls", "time_ms", "cost_usd")


def _keep() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_totals.c[name].type)
        for name in ChatTotals.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(_totals).values(given)
    added = {name: _totals.c[name] + insert.excluded[name] for name in _KEPT}
    return Statement(
        insert.on_conflict_do_update(index_elements=["tenant_id", "agent_id", "day"], set_=added)
    )


_KEEP = _keep()
_FORGET_JOBS: Statement[Any] = Statement(
    sa.delete(_jobs).where(_jobs.c.completed_at < sa.bindparam("before"))
)


@job(every_s=60, transactional=False)
async def end_silent_conversations(ctx: Context, _payload: NoPayload) -> None:
    before = ctx.clock.ahead(-ACTIVE_S)
    for tenant_id, id in await ctx.system("conversations of every tenant").rows(_SILENT, before=before):
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            for (agent_id,) in await unit.db.execute(_CLOSE, conversation_id=id, before=before):
                await tell_completed(unit, id, agent_id, "idle_timeout")


@job(every_s=_DAY_S, timeout_s=3600, transactional=False)
async def purge_chat_logs(ctx: Context, _payload: NoPayload) -> None:
    """Each agent keeps its log for as many days as its settings say; 0 is for ever."""
    agents = await ctx.system("agents of every tenant").all(Agent)
    for agent in agents:
        days = agent.log_settings.retention_days
        if days:
            async with ctx.unit() as unit:
                unit.act_in(agent.tenant_id)
                await _purge(unit, agent.id, unit.clock.ahead(-days * _DAY_S))
    async with ctx.unit() as unit:
        await unit.system("jobs of every tenant").execute(
            _FORGET_JOBS, before=unit.clock.ahead(-_JOBS_KEPT_DAYS * _DAY_S)
        )


async def _purge(unit: Context, agent_id: str, before: str) -> None:
    await unit.unit_of_work.begin()
    for day, *sums in await unit.db.rows(_ADD_UP, agent_id=agent_id, before=before):
        now = unit.now
        await unit.db.execute(
            _KEEP,
            id=new_id(ChatTotals.__prefix__),
            created_at=now,
            updated_at=now,
            agent_id=agent_id,
            day=day,
            **dict(zip(_KEPT, map(_number, sums), strict=True)),
        )
    await unit.db.execute(_PURGE, agent_id=agent_id, before=before)


def _number(value: Any) -> Any:
    """PostgreSQL adds whole numbers up to a decimal."""
    return value if isinstance(value, float) else int(value)
