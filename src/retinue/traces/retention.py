"""Deletion of old traces, and of what waits for exporters that are gone."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent, LogSettings
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.purge import PURGE_BATCH_ROWS, purge_all_tenants, purge_statement
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.kit.tracing.parts import leave_unrecorded
from retinue.kit.tracing.policy import INSTANCE_EXPORTER
from retinue.traces.models import TraceExporter

UNSTORED_SECONDS = 3_600
"""How long parts are kept that are recorded for exporters only (`RETINUE_TRACES=off`)."""
QUEUE_SECONDS = 86_400
"""How long parts wait for an exporter that is switched off."""
_DAY_SECONDS = 86_400

_parts, _queue, _exporters = TracePart.__table__, QueuedTracePart.__table__, TraceExporter.__table__
_agents = Agent.__table__
_before = sa.bindparam("before", type_=sa.Text())
# From tenant to tenant, because the index over time begins with the tenant.
_NEXT_TENANT = Statement(
    sa.select(sa.func.min(_parts.c.tenant_id)).where(
        _parts.c.tenant_id > sa.bindparam("last", type_=sa.Text())
    )
)
_AGENTS = Statement(sa.select(_agents.c.id, _agents.c.log_settings))
_OLD_PARTS = purge_statement(_parts, _parts.c.created_at < _before)
_OLD_PARTS_OF_AGENT = purge_statement(
    _parts, _parts.c.agent_id == sa.bindparam("agent_id", type_=sa.Text()), _parts.c.created_at < _before
)
_live_exporters = sa.select(_exporters.c.id)
_OF_DELETED_EXPORTERS = purge_statement(
    _queue, _queue.c.exporter_id != INSTANCE_EXPORTER, _queue.c.exporter_id.not_in(_live_exporters)
)
_OLD_QUEUE = purge_statement(_queue, _queue.c.created_at < _before)
_decode_settings = msgspec.json.Decoder(LogSettings).decode


async def purge_traces(ctx: Context) -> None:
    """Delete parts after the agent's own retention, and at the latest after that of the instance."""
    leave_unrecorded()
    settings = ctx.settings
    max_seconds = settings.trace_retention_days * _DAY_SECONDS if settings.traces else UNSTORED_SECONDS
    tenant_id = await _next_tenant(ctx, "")
    while tenant_id is not None:
        await _purge_tenant(ctx, tenant_id, max_seconds)
        tenant_id = await _next_tenant(ctx, tenant_id)
    await purge_all_tenants(ctx, _OF_DELETED_EXPORTERS)
    await purge_all_tenants(ctx, _OLD_QUEUE, before=ctx.clock.ahead(-QUEUE_SECONDS))


async def _next_tenant(ctx: Context, last: str) -> str | None:
    found: str | None = await ctx.system("traces of every tenant").scalar(_NEXT_TENANT, last=last)
    return found


async def _purge_tenant(ctx: Context, tenant_id: str, max_seconds: int) -> None:
    await _purge(ctx, tenant_id, _OLD_PARTS, before=ctx.clock.ahead(-max_seconds))
    async with ctx.unit() as unit:
        unit.bind_tenant(tenant_id)
        agents = await unit.db.rows(_AGENTS)
    for agent_id, stored in agents:
        seconds = _decode_settings(stored).retention_days * _DAY_SECONDS
        if 0 < seconds < max_seconds:
            before = ctx.clock.ahead(-seconds)
            await _purge(ctx, tenant_id, _OLD_PARTS_OF_AGENT, agent_id=agent_id, before=before)


async def _purge(ctx: Context, tenant_id: str, statement: Statement[Any], **parameters: Any) -> None:
    deleted = PURGE_BATCH_ROWS
    while deleted == PURGE_BATCH_ROWS:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            deleted = await unit.db.execute(statement, **parameters)
