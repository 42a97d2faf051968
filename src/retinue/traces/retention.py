"""Deletion of old traces, and of what waits for exporters that are gone."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent, LogSettings
from retinue.chat.models import ChatLog
from retinue.chat.traced_turns import FORGET_TRACES, forgetting_statement
from retinue.kit.context import Context
from retinue.kit.db.in_list import list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.purge import PURGE_BATCH_ROWS, purge_all_tenants, purge_statement
from retinue.kit.settings import Settings
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.kit.tracing.parts import leave_unrecorded
from retinue.kit.tracing.policy import INSTANCE_EXPORTER
from retinue.traces.models import TraceExporter

UNSTORED_SECONDS = 3_600
"""How long parts are kept that are recorded for exporters only (`RETINUE_TRACES=off`)."""
QUEUE_SECONDS = 86_400
"""How long parts wait for an exporter that is switched off."""
_DAY_SECONDS = 86_400

_parts, _logs = TracePart.__table__, ChatLog.__table__
_queue, _exporters = QueuedTracePart.__table__, TraceExporter.__table__
_agents = Agent.__table__
_before = sa.bindparam("before", type_=sa.Text())
# From tenant to tenant, because the indexes over time begin with the tenant.
_last = sa.bindparam("last", type_=sa.Text())
_NEXT_TENANTS = tuple(
    Statement(sa.select(sa.func.min(table.c.tenant_id)).where(table.c.tenant_id > _last))
    for table in (_parts, _logs)
)
_AGENTS = Statement(sa.select(_agents.c.id, _agents.c.log_settings))


def _old(table: sa.Table) -> tuple[Any, Any]:
    """Return the conditions of what is old, and of what is old and an agent's."""
    is_old = table.c.created_at < _before
    return is_old, sa.and_(table.c.agent_id == sa.bindparam("agent_id", type_=sa.Text()), is_old)


_OLD_PARTS, _OLD_PARTS_OF_AGENT = (purge_statement(_parts, is_old) for is_old in _old(_parts))
_OLD_TURNS_OF_AGENT = forgetting_statement(_old(_logs)[1])
# Most of what is older has no trace any more: it is read in a thread, and not by the transaction.
_OLD_TURNS = Statement(
    sa.select(_logs.c.id, _logs.c.created_at)
    .where(
        _logs.c.created_at >= sa.bindparam("since", type_=sa.Text()),
        _logs.c.created_at < _before,
        _logs.c.trace_ns.is_not(None),
    )
    .order_by(_logs.c.created_at)
    .limit(PURGE_BATCH_ROWS),
    heavy=True,
)
_live_exporters = sa.select(_exporters.c.id)
_OF_DELETED_EXPORTERS = purge_statement(
    _queue, _queue.c.exporter_id != INSTANCE_EXPORTER, _queue.c.exporter_id.not_in(_live_exporters)
)
_OLD_QUEUE = purge_statement(_queue, _queue.c.created_at < _before)
_decode_settings = msgspec.json.Decoder(LogSettings).decode


def retention_seconds(settings: Settings) -> int:
    """Return how long the instance keeps traces at most."""
    return settings.trace_retention_days * _DAY_SECONDS if settings.traces else UNSTORED_SECONDS


async def purge_traces(ctx: Context) -> None:
    """Delete parts after the agent's own retention, and at the latest after that of the instance.

    Logs live longer than traces: what they tell about the trace of a plain turn is removed from them.
    """
    leave_unrecorded()
    max_seconds = retention_seconds(ctx.settings)
    tenant_id = await _next_tenant(ctx, "")
    while tenant_id is not None:
        await _purge_tenant(ctx, tenant_id, max_seconds)
        tenant_id = await _next_tenant(ctx, tenant_id)
    await purge_all_tenants(ctx, _OF_DELETED_EXPORTERS)
    await purge_all_tenants(ctx, _OLD_QUEUE, before=ctx.clock.ahead(-QUEUE_SECONDS))


async def _next_tenant(ctx: Context, last: str) -> str | None:
    system = ctx.system("traces of every tenant")
    found = [await system.scalar(statement, last=last) for statement in _NEXT_TENANTS]
    return min((tenant_id for tenant_id in found if tenant_id is not None), default=None)


async def _purge_tenant(ctx: Context, tenant_id: str, max_seconds: int) -> None:
    await _purge(ctx, tenant_id, _OLD_PARTS, before=ctx.clock.ahead(-max_seconds))
    await _forget_old_turns(ctx, tenant_id, ctx.clock.ahead(-max_seconds))
    async with ctx.unit() as unit:
        unit.bind_tenant(tenant_id)
        agents = await unit.db.rows(_AGENTS)
    for agent_id, stored in agents:
        seconds = _decode_settings(stored).retention_days * _DAY_SECONDS
        if 0 < seconds < max_seconds:
            before = ctx.clock.ahead(-seconds)
            for statement in (_OLD_PARTS_OF_AGENT, _OLD_TURNS_OF_AGENT):
                await _purge(ctx, tenant_id, statement, agent_id=agent_id, before=before)


async def _forget_old_turns(ctx: Context, tenant_id: str, before: str) -> None:
    since = ""
    while True:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            old = await unit.db.rows(_OLD_TURNS, since=since, before=before)
            if not old:
                return
            since = old[-1][1]
            await unit.db.execute(FORGET_TRACES, ids=list_parameter(row[0] for row in old))


async def _purge(ctx: Context, tenant_id: str, statement: Statement[Any], **parameters: Any) -> None:
    deleted = PURGE_BATCH_ROWS
    while deleted == PURGE_BATCH_ROWS:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            deleted = await unit.db.execute(statement, **parameters)
