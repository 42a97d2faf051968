"""Measurements every 15 seconds: the process, its database connections, and in a worker the database.

A scrape reads only what was measured: it never waits for the database.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
import structlog

from retinue import __version__
from retinue.kit.degradation import PARTS, degraded_parts
from retinue.kit.metrics import declarations as metrics
from retinue.kit.metrics.series import CounterDeclaration, GaugeDeclaration

if TYPE_CHECKING:
    from retinue.kit.context import Context
    from retinue.kit.context.instance import Instance

log = structlog.get_logger("retinue.metrics")

SAMPLE_SECONDS = 15.0


class DatabaseGauge(msgspec.Struct, frozen=True):
    """Gauges that workers read from the database, declared in a manifest.

    `read` returns the values by labels; series that it leaves out become 0.
    """

    gauges: tuple[GaugeDeclaration, ...]
    read: "Callable[[Context], Awaitable[Mapping[tuple[str, ...], tuple[float, ...]]]]"


class MetricSampler:
    def __init__(self, instance: "Instance", system_context: "Callable[[], Context]") -> None:
        self._instance = instance
        self._system_context = system_context
        self._seen_labels: dict[str, set[tuple[str, ...]]] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self, *, reads_database: bool) -> None:
        """Measure in the background; only workers read the database."""
        if self._instance.metrics is not None:
            self._task = asyncio.create_task(self._run(reads_database=reads_database))

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _run(self, *, reads_database: bool) -> None:
        while True:
            try:
                self.sample_process()
                await self.sample_parts()
                if reads_database:
                    await self.sample_database()
            except Exception as error:  # noqa: BLE001  the next measurement may succeed
                log.warning("metrics_not_measured", error=type(error).__name__)
            await asyncio.sleep(SAMPLE_SECONDS)

    def sample_process(self) -> None:
        """Measure this process; also settles the files of processes that have ended."""
        instance = self._instance
        if instance.metrics is None:
            return
        instance.metrics.sweep()
        metrics.BUILD_INFO.set(1, __version__)
        metrics.VAULT_SEALED.set(1 if instance.vault.sealed_because else 0)
        for state, count in instance.database.connection_counts().items():
            metrics.DATABASE_CONNECTIONS.set(count, state)
        _sample_collectors()

    async def sample_parts(self) -> None:
        """Measure what this process misses."""
        degraded = await degraded_parts(self._instance)
        for part in PARTS:
            metrics.DEGRADED.set(1 if part in degraded else 0, part)

    async def sample_database(self) -> None:
        """Read the gauges over the database; each in its own context, so that one failure ends only one."""
        for declared in self._instance.registry.all(DatabaseGauge):
            async with self._system_context() as ctx:
                values = await declared.read(ctx)
            seen = self._seen_labels.setdefault(declared.gauges[0].name, set())
            seen.update(values)
            for labels in seen:
                measured = values.get(labels, (0.0,) * len(declared.gauges))
                for gauge, value in zip(declared.gauges, measured, strict=True):
                    gauge.set(value, *labels)


def _sample_collectors() -> None:
    """Store what `prometheus_client` reads of the process and the garbage collector."""
    from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

    for collector in (
        ProcessCollector(registry=None),
        GCCollector(registry=CollectorRegistry(auto_describe=False)),
    ):
        for family in collector.collect():
            for sample in family.samples:
                declared = metrics.METRICS.get(sample.name)
                labels = tuple(sample.labels.values())
                if isinstance(declared, CounterDeclaration):
                    declared.set_total(sample.value, *labels)
                elif isinstance(declared, GaugeDeclaration):
                    declared.set(sample.value, *labels)
