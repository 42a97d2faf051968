"""Tracing settings of tenants in each process: exporters, samples, and the operator's receiver."""

import asyncio
from contextlib import suppress

import sqlalchemy as sa
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.statements import Statement
from retinue.kit.egress import Egress, read_destination
from retinue.kit.principal import SYSTEM
from retinue.tenants.models import Tenant
from retinue.traces.models import TraceExporter

REFRESH_SECONDS = 5.0
CHANGED_EXPORTERS = "traces.changed_exporters"
"""The topic under which processes tell each other that an exporter has changed."""

logger = structlog.get_logger("retinue.traces")

_exporters = TraceExporter.__table__
_ENABLED = Statement(
    sa.select(_exporters.c.tenant_id, _exporters.c.id)
    .where(_exporters.c.enabled == sa.true())
    .order_by(_exporters.c.id)
)
_tenants = Tenant.__table__
_SAMPLES = Statement(
    sa.select(_tenants.c.id, _tenants.c.trace_sample).where(_tenants.c.trace_sample.is_not(None))
)


class ExporterDirectory:
    """Keeps the tracing policy of this process as tenants' rows say, which other processes change."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._is_changed = asyncio.Event()
        self._task = asyncio.create_task(self._run())
        instance.peers.subscribe(CHANGED_EXPORTERS, lambda _: self._is_changed.set())
        self._egress: Egress | None = None

    @property
    def operator_egress(self) -> Egress:
        """The way to the operator's receiver, which may be on a private network that tenants cannot reach."""
        if self._egress is None:
            settings = self._instance.settings
            destination = read_destination(settings.otlp_endpoint)
            host = f"[{destination.host}]" if ":" in destination.host else destination.host
            self._egress = Egress.from_settings(settings, [f"{host}:{destination.port}"])
        return self._egress

    async def refresh_everywhere(self) -> None:
        """Refresh this process, and at once its peers; processes elsewhere within seconds."""
        await self.refresh()
        self._instance.peers.publish(CHANGED_EXPORTERS, "")

    async def refresh(self) -> None:
        caller = Caller(correlation_id="cor_traces")
        ctx = Context(self._instance, SYSTEM, caller, reads_outside_transaction=True)
        found: dict[str, tuple[str, ...]] = {}
        for tenant_id, exporter_id in await ctx.system("exporters of every tenant").rows(_ENABLED):
            found[tenant_id] = (*found.get(tenant_id, ()), exporter_id)
        samples = await ctx.system("samples of every tenant").rows(_SAMPLES)
        self._instance.tracing.exporters = found
        self._instance.tracing.samples = {row[0]: row[1] for row in samples}

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        if self._egress is not None:
            await self._egress.close()

    async def _run(self) -> None:
        while True:
            try:
                await self.refresh()
            except Exception:
                logger.exception("exporters_not_read")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_changed.wait(), REFRESH_SECONDS)
            self._is_changed.clear()
