"""Wiring: settings in, an opened instance out; the way in and the worker are built on it."""

import dataclasses

import structlog

from retinue.adapters.blobs import Blobs, LocalBlobs
from retinue.adapters.mail import Mailer, mailer_for
from retinue.adapters.mcp import McpClient
from retinue.adapters.sandbox import LocalSandbox, Sandbox
from retinue.domains import DOMAINS
from retinue.kit import failpoints
from retinue.kit.clock import Clock, SystemClock
from retinue.kit.db.engine import database_for
from retinue.kit.egress import Egress
from retinue.kit.instance import Instance
from retinue.kit.limits import Limiter, MemoryStore
from retinue.kit.manifest import Manifest
from retinue.kit.metrics import Metrics
from retinue.kit.settings import BadSetting, Settings
from retinue.kit.tokens import TokenIssuer
from retinue.kit.vault import open_vault
from retinue.migrations.upgrade import upgrade

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
    if settings.files_url:
        raise BadSetting("RETINUE_FILES_URL: object storage is not supported yet; files stay in the data dir")
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
    return Instance(
        settings=settings,
        clock=clock,
        database=database,
        limiter=_limiter(settings, clock),
        vault=vault,
        tokens=TokenIssuer(vault.signing, settings.base_url, clock),
        manifests=manifests,
        adapters={
            Mailer: mailer_for(settings, clock),
            Blobs: LocalBlobs(settings.data_dir / "files"),
            Egress: egress,
            McpClient: McpClient(egress, clock),
            Sandbox: sandbox,
        },
        sandbox_status=sandbox.known,
        metrics=Metrics() if settings.metrics else None,
    )


def _limiter(settings: Settings, clock: Clock) -> Limiter:
    local = MemoryStore(clock)
    if not settings.redis_url:
        return Limiter(local, burst=settings.burst)
    from retinue.kit.limits.redis import RedisStore

    return Limiter(local, RedisStore.connect(settings.redis_url), burst=settings.burst)


async def close_instance(instance: Instance) -> None:
    for adapter in (Sandbox, McpClient, Egress):
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
