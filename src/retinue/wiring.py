"""Wiring: settings in, an opened instance out; the way in and the worker are built on it."""

import dataclasses

import structlog

from retinue.adapters.blobs import Blobs, blobs_for
from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.mail import Mailer, mailer_for
from retinue.adapters.mcp import McpClient
from retinue.adapters.notifying import Outside
from retinue.adapters.sandbox import LocalSandbox, Sandbox
from retinue.chat.live import LiveTurns
from retinue.domains import DOMAINS
from retinue.kit import failpoints
from retinue.kit.clock import Clock, SystemClock
from retinue.kit.db.engine import database_for
from retinue.kit.egress import Egress
from retinue.kit.instance import Instance
from retinue.kit.limits import MemoryStore
from retinue.kit.manifest import Manifest
from retinue.kit.metrics import Metrics
from retinue.kit.settings import Settings
from retinue.kit.tokens import TokenIssuer
from retinue.kit.vault import open_vault
from retinue.migrations.upgrade import upgrade
from retinue.notifications.live import LiveInboxes
from retinue.usage.requests import CountingLimiter, RequestCounts
from retinue.usage.spending import KnownBudgets
from retinue.webhooks.waiting import WaitingDeliveries
from retinue.workflows.live import LiveExecutions

log = structlog.get_logger("retinue")


async def open_instance(
    settings: Settings,
    clock: Clock | None = None,
    manifests: tuple[Manifest, ...] = DOMAINS,
    *,
    may_migrate: bool = True,
) -> Instance:
    """Everything but the way in: database, vault, limits, adapters."""
    clock = clock or SystemClock()
    blobs = blobs_for(settings)
    failpoints.arm(settings.failpoints)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = database_for(settings)
    await database.open()
    try:
        await upgrade(settings, database, only_if_empty=not may_migrate)
        vault = await open_vault(settings, database, clock)
    except BaseException:
        await database.close()
        raise
    if vault.sealed_because:
        log.warning("the vault is sealed", reason=vault.sealed_because)
    egress, sandbox = Egress(settings.egress_allowed()), LocalSandbox(settings.data_dir)
    limiter = _limiter(settings, clock)
    instance = Instance(
        settings=settings,
        clock=clock,
        database=database,
        limiter=limiter,
        vault=vault,
        tokens=TokenIssuer(vault.signing, settings.base_url, clock),
        manifests=manifests,
        adapters={
            Mailer: mailer_for(settings, clock),
            Blobs: blobs,
            Egress: egress,
            McpClient: McpClient(egress, clock),
            Outside: Outside(egress, clock),
            Sandbox: sandbox,
            EmbeddedModels: EmbeddedModels(settings.models_folder, settings.local_model),
            RequestCounts: limiter.counts,
            KnownBudgets: KnownBudgets(),
        },
        sandbox_status=sandbox.known,
        metrics=Metrics() if settings.metrics else None,
    )
    instance.adapters[LiveTurns] = LiveTurns(instance)
    instance.adapters[LiveInboxes] = LiveInboxes(instance)
    instance.adapters[LiveExecutions] = LiveExecutions(instance)
    instance.adapters[WaitingDeliveries] = WaitingDeliveries(instance)
    limiter.counts.open(instance)
    return instance


def _limiter(settings: Settings, clock: Clock) -> CountingLimiter:
    local = MemoryStore(clock)
    if not settings.redis_url:
        return CountingLimiter(local, burst=settings.burst)
    from retinue.kit.limits.redis import RedisStore

    return CountingLimiter(local, RedisStore.connect(settings.redis_url), burst=settings.burst)


async def close_instance(instance: Instance) -> None:
    await instance.adapters[RequestCounts].close()
    for adapter in (
        LiveTurns,
        LiveInboxes,
        LiveExecutions,
        EmbeddedModels,
        Sandbox,
        McpClient,
        Egress,
        Blobs,
    ):
        await instance.adapters[adapter].close()
    await instance.limiter.close()
    await instance.database.close()


def with_base_url(settings: Settings, host: str, port: int) -> Settings:
    """The public address is what was configured, else the address that was bound."""
    if settings.base_url:
        return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
    shown = "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host  # noqa: S104  compared, not bound
    shown = f"[{shown}]" if ":" in shown else shown
    return dataclasses.replace(settings, base_url=f"http://{shown}:{port}")
