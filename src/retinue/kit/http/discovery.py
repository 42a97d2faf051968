"""Endpoints about the instance itself: health, metrics, the OpenAPI document and the reference page."""

from importlib import resources

import msgspec

from retinue import __version__
from retinue.kit.attempts import Attempts, purge_attempts
from retinue.kit.build_commit import build_commit
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.degradation import degraded_parts
from retinue.kit.errors import NotFound, RetinueError, Unauthorized
from retinue.kit.events.models import AuditEntry, AuditHead, EventEntry
from retinue.kit.events.outbox import count_undispatched
from retinue.kit.http import site
from retinue.kit.http.idempotency import IdempotencyKey, purge_idempotency_keys
from retinue.kit.http.page_scripts import page_style
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.jobs.dead_jobs import give_up_unknown_jobs, purge_dead_jobs
from retinue.kit.jobs.declare import periodic
from retinue.kit.jobs.models import Job, Schedule
from retinue.kit.jobs.waiting_counts import count_waiting_jobs
from retinue.kit.metrics import declarations as metrics
from retinue.kit.metrics.endpoint import require_metrics_token
from retinue.kit.metrics.files import CONTENT_TYPE
from retinue.kit.metrics.sampler import DatabaseGauge
from retinue.kit.peers import Peers
from retinue.kit.vault import InstanceKey, VaultKey
from retinue.kit.vault.jobs import retire_signing_keys

_REFERENCE_ASSETS = {
    "reference.js": "text/javascript; charset=utf-8",
    "reference-schemas.js": "text/javascript; charset=utf-8",
    "reference.css": "text/css; charset=utf-8",
}

routes = Routes("", tag="discovery")


class ProcessCounts(msgspec.Struct):
    expected: int
    alive: int


class Health(msgspec.Struct):
    status: str
    version: str
    commit: str | None
    database: str
    worker: str
    vault: str
    sandbox: dict[str, str]
    direct_connection: str | msgspec.UnsetType = msgspec.UNSET
    processes: ProcessCounts | msgspec.UnsetType = msgspec.UNSET
    degraded: list[str] | msgspec.UnsetType = msgspec.UNSET


@routes.get("/health", requires=PUBLIC, cost="free")
async def get_health(ctx: Context) -> Reply[Health]:
    """Report liveness and readiness.

    Answers 503 while the database is unavailable or the server is shutting down. With a sealed vault the
    server works but for what needs a secret: it answers 200 and its status is `sealed`. Without room on its
    disk, its Redis or its worker it answers 200 as well, the status is `degraded`, and the parts are named.
    """
    instance = ctx.instance
    database = await _database_status(ctx)
    is_stopping = instance.is_stopping
    is_ready = database == "ok" and not is_stopping
    direct = instance.database.direct_connection()
    vault = "sealed" if instance.vault.sealed_because else "open"
    degraded = await degraded_parts(instance)
    working = "sealed" if vault == "sealed" else ("degraded" if degraded else "ok")
    health = Health(
        status=working if is_ready else ("stopping" if is_stopping else "unavailable"),
        version=__version__,
        commit=build_commit(),
        database=database,
        direct_connection=msgspec.UNSET if direct == "not_needed" else direct,
        worker=instance.worker_status(),
        vault=vault,
        # The endpoint is public, so the reason of a failure goes to the log only.
        sandbox={name: _public_sandbox_status(status) for name, status in instance.sandbox_status().items()},
        processes=_count_processes(instance.peers),
        degraded=degraded or msgspec.UNSET,
    )
    return Reply(health, status=200 if is_ready else 503)


def _count_processes(peers: Peers) -> ProcessCounts | msgspec.UnsetType:
    return ProcessCounts(peers.expected, peers.alive) if peers.expected > 1 else msgspec.UNSET


class Liveness(msgspec.Struct):
    status: str


class Readiness(msgspec.Struct):
    status: str
    database: str
    vault: str


@routes.get("/health/live", requires=PUBLIC, cost="free")
async def get_liveness(ctx: Context) -> Liveness:  # noqa: ARG001  every handler takes it
    """Say that the process answers. Whoever restarts processes asks here: a dead database restarts nobody."""
    return Liveness("ok")


@routes.get("/health/ready", requires=PUBLIC, cost="free")
async def get_readiness(ctx: Context) -> Reply[Readiness]:
    """Say whether the process can serve requests; whoever distributes them asks here.

    Answers 503 while the database is unavailable, the vault is sealed, or the server is shutting down.
    """
    instance = ctx.instance
    database = await _database_status(ctx)
    vault = "sealed" if instance.vault.sealed_because else "open"
    is_stopping = instance.is_stopping
    is_ready = database == "ok" and vault == "open" and not is_stopping
    status = "ok" if is_ready else ("stopping" if is_stopping else "unavailable")
    return Reply(Readiness(status, database, vault), status=200 if is_ready else 503)


async def _database_status(ctx: Context) -> str:
    try:
        await ctx.instance.database.ping()
    except RetinueError:
        return "unavailable"
    return "ok"


def _public_sandbox_status(status: str) -> str:
    return status if status in {"ok", "not tried yet"} else "unavailable"


@routes.get("/openapi.json", requires=PUBLIC, cost="free")
async def get_openapi(ctx: Context) -> WebDocument:
    """Return this API's description as an OpenAPI 3.1 document."""
    return WebDocument(ctx.instance.openapi(), "application/json")


@routes.get("/docs", requires=PUBLIC, cost="free")
async def get_reference_page(ctx: Context) -> WebDocument:  # noqa: ARG001  every handler takes it
    """Return the page that shows the API reference in a browser."""
    return WebDocument(_asset("reference.html"))


@routes.get("/docs/{asset}", requires=PUBLIC, cost="free", errors=(NotFound,))
async def get_reference_asset(ctx: Context, asset: str) -> WebDocument:  # noqa: ARG001  every handler takes it
    """Return a style sheet or script of the API reference page."""
    if asset not in _REFERENCE_ASSETS:
        raise NotFound
    return WebDocument(_asset(asset), _REFERENCE_ASSETS[asset])


@routes.get("/style/pages.css", requires=PUBLIC, cost="free")
async def get_page_style(ctx: Context) -> WebDocument:  # noqa: ARG001  every handler takes it
    """Return the style sheet of the instance's own pages."""
    return WebDocument(page_style(), "text/css; charset=utf-8")


@routes.get("/metrics", requires=PUBLIC, cost="free", errors=(NotFound, Unauthorized))
async def get_metrics(ctx: Context, request: Request) -> WebDocument:
    """Return metrics in the Prometheus text format. Answers 404 unless `RETINUE_METRICS` is on.

    The numbers are those of all processes that share the data directory. With `RETINUE_METRICS_TOKEN`, that
    text is required as a bearer token.
    """
    if ctx.instance.metrics is None:
        raise NotFound
    require_metrics_token(ctx.settings, request.header(b"authorization"))
    return WebDocument(ctx.instance.metrics.render(), CONTENT_TYPE)


def _asset(name: str) -> bytes:
    return resources.files("retinue.kit.http").joinpath("assets", name).read_bytes()


manifest = Manifest(
    name="kit",
    records=(
        EventEntry,
        AuditEntry,
        AuditHead,
        Job,
        Schedule,
        Attempts,
        IdempotencyKey,
        VaultKey,
        InstanceKey,
    ),
    routes=(routes, site.routes),
    jobs=(
        periodic(
            "kit.purge_idempotency_keys",
            purge_idempotency_keys,
            every_s=3600,
        ),
        periodic("kit.purge_attempts", purge_attempts, every_s=3600),
        periodic("kit.purge_dead_jobs", purge_dead_jobs, every_s=24 * 3600),
        periodic("kit.give_up_unknown_jobs", give_up_unknown_jobs, every_s=3600),
        periodic("kit.retire_signing_keys", retire_signing_keys, every_s=300),
    ),
    gauges=(
        DatabaseGauge((metrics.JOBS_WAITING, metrics.JOB_OLDEST_AGE), count_waiting_jobs),
        DatabaseGauge((metrics.EVENTS_WAITING,), count_undispatched),
    ),
)
