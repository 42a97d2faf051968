"""Wiring: it opens an instance from the settings; the service and the worker are built on it."""

import dataclasses

import structlog

from retinue.adapters.blobs import Blobs, blobs_for
from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm.local_servers import LocalServers
from retinue.adapters.mail import Mailer, mailer_for
from retinue.adapters.mcp import McpClient
from retinue.adapters.notifiers import SendContext
from retinue.adapters.sandbox import LocalSandbox, Sandbox
from retinue.domains import DOMAINS
from retinue.kit import failpoints
from retinue.kit.clock import Clock, SystemClock
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import close_states, open_states
from retinue.kit.context.registry import Registry
from retinue.kit.db.databases import database_for
from retinue.kit.durable_files import make_private_folder
from retinue.kit.egress import Egress
from retinue.kit.limits import MemoryStore
from retinue.kit.metrics.files import close_metrics, open_metrics
from retinue.kit.metrics.sampler import MetricSampler
from retinue.kit.peers import Peers
from retinue.kit.principal import SYSTEM
from retinue.kit.settings import ANY_ADDRESS, Settings
from retinue.kit.tokens import TokenIssuer
from retinue.kit.vault import open_vault
from retinue.migrations.upgrade import upgrade
from retinue.usage.request_counts import CountingLimiter, RequestCounts

log = structlog.get_logger("retinue")
DEFAULT_BASE_URL = "http://127.0.0.1:8080"


async def open_instance(
    settings: Settings,
    clock: Clock | None = None,
    manifests: tuple[Manifest, ...] = DOMAINS,
    *,
    may_migrate: bool = True,
    is_command: bool = False,
    peers: Peers | None = None,
) -> Instance:
    """Open the database, the vault, limits and adapters; one of a command does not count as a server."""
    clock = clock or SystemClock()
    blobs = blobs_for(settings)
    failpoints.arm(settings.failpoints)
    make_private_folder(settings.data_dir)
    await upgrade(settings, only_if_empty=not may_migrate)
    database = database_for(settings, is_command=is_command)
    await database.open()
    try:
        vault = await open_vault(settings, database, clock)
    except BaseException:
        await database.close()
        raise
    if vault.sealed_because:
        log.warning("vault_sealed", reason=vault.sealed_because)
    egress, sandbox = Egress.from_settings(settings), LocalSandbox(settings.data_dir)
    peers = peers or Peers()
    limiter = _limiter(settings, clock, peers)
    instance = Instance(
        settings=settings,
        clock=clock,
        database=database,
        limiter=limiter,
        vault=vault,
        tokens=TokenIssuer(vault.signing, settings.base_url, clock),
        registry=Registry(manifests),
        has_routers=any(manifest.routers for manifest in manifests),
        adapters={
            Mailer: mailer_for(settings, clock),
            Blobs: blobs,
            Egress: egress,
            McpClient: McpClient(egress, clock),
            SendContext: SendContext(egress, clock),
            Sandbox: sandbox,
            EmbeddedModels: EmbeddedModels(settings.models_folder, settings.local_model),
            LocalServers: LocalServers(egress, settings, clock),
        },
        states={RequestCounts: limiter.counts},
        sandbox_status=sandbox.known,
        peers=peers,
        metrics=open_metrics(settings.data_dir / "metrics") if settings.metrics else None,
    )
    open_states(instance)
    limiter.counts.open(instance)
    return instance


def sampler_for(instance: Instance) -> MetricSampler:
    caller = Caller(correlation_id="cor_metrics")
    return MetricSampler(instance, lambda: Context(instance, SYSTEM, caller, reads_outside_transaction=True))


def _limiter(settings: Settings, clock: Clock, peers: Peers) -> CountingLimiter:
    local = MemoryStore(clock)
    if not settings.redis_url:
        return CountingLimiter(local, peers.limits, burst=settings.burst)
    from retinue.kit.limits.redis import RedisStore

    shared = RedisStore.connect(settings.redis_url, ca_bundle=settings.redis_authorities)
    return CountingLimiter(local, shared, burst=settings.burst)


async def close_instance(instance: Instance) -> None:
    await instance.states[RequestCounts].close()
    await close_states(instance)
    for adapter in (
        EmbeddedModels,
        LocalServers,
        Sandbox,
        McpClient,
        Egress,
        Blobs,
    ):
        await instance.adapters[adapter].close()
    await instance.limiter.close()
    if instance.metrics is not None:
        close_metrics(instance.metrics)
    await instance.database.close()


def server_settings(settings: Settings, bound: list[tuple[str, int]]) -> Settings:
    """Return the settings of a server: the base URL is the configured one, else the first bound address."""
    hosts, ports = tuple(host for host, _ in bound), tuple(port for _, port in bound)
    settings = dataclasses.replace(settings, bound_hosts=hosts, bound_ports=ports)
    if settings.base_url:
        return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
    host, port = bound[0]
    shown = "127.0.0.1" if host in {ANY_ADDRESS, "::", ""} else host
    shown = f"[{shown}]" if ":" in shown else shown
    return dataclasses.replace(settings, base_url=f"http://{shown}:{port}")


def command_settings(settings: Settings) -> Settings:
    """Return the settings of a worker or command, which binds nothing.

    Without a configured base URL the servers may be reachable from other machines, so the instance does not
    count as a development instance.
    """
    if settings.base_url:
        return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
    return dataclasses.replace(settings, base_url=DEFAULT_BASE_URL, bound_hosts=(ANY_ADDRESS,))
