"""What the instance says of itself: health, metrics, its own description and the page that shows it."""

from importlib import resources

import msgspec

from retinue import __version__
from retinue.kit.attempts import Attempts, sweep_attempts
from retinue.kit.context import Context
from retinue.kit.errors import NotFound, RetinueError
from retinue.kit.events.models import AuditEntry, AuditHead, EventEntry
from retinue.kit.http.idempotency import StoredAnswer, sweep_idempotency_keys
from retinue.kit.http.replies import Document, Reply
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.http.scripts import page_style
from retinue.kit.jobs.models import Job, Schedule
from retinue.kit.jobs.sweeping import sweep_dead_jobs
from retinue.kit.manifest import Manifest
from retinue.kit.vault import InstanceKey, VaultKey
from retinue.kit.vault.jobs import retire_signing_keys

routes = Routes("", tag="discovery")


class Health(msgspec.Struct):
    status: str
    version: str
    database: str
    worker: str
    vault: str
    egress_allow: list[str]
    sandbox: dict[str, str]


@routes.get("/health", requires=PUBLIC, cost="free")
async def get_health(ctx: Context) -> Reply[Health]:
    """Liveness and readiness in one; 503 while the database does not answer or the server is going down."""
    instance = ctx.instance
    try:
        await instance.database.ping()
        database = "ok"
    except RetinueError:
        database = "unavailable"
    going = instance.shutting_down.is_set()
    is_ready = database == "ok" and not going
    health = Health(
        status="ok" if is_ready else ("stopping" if going else "unavailable"),
        version=__version__,
        database=database,
        worker=instance.worker_status(),
        vault="sealed" if instance.vault.sealed_because else "open",
        egress_allow=list(instance.settings.egress_allowed()),
        sandbox=instance.sandbox_status(),
    )
    return Reply(health, status=200 if is_ready else 503)


@routes.get("/openapi.json", requires=PUBLIC, cost="free")
async def get_openapi(ctx: Context) -> Document:
    return Document(ctx.instance.openapi(), "application/json")


@routes.get("/docs", requires=PUBLIC, cost="free")
async def get_reference_page(ctx: Context) -> Document:  # noqa: ARG001  every handler takes it
    return Document(_asset("reference.html"))


@routes.get("/docs/{asset}", requires=PUBLIC, cost="free", errors=(NotFound,))
async def get_reference_asset(ctx: Context, asset: str) -> Document:  # noqa: ARG001  every handler takes it
    kinds = {"reference.js": "text/javascript; charset=utf-8", "reference.css": "text/css; charset=utf-8"}
    if asset not in kinds:
        raise NotFound
    return Document(_asset(asset), kinds[asset])


@routes.get("/style/pages.css", requires=PUBLIC, cost="free")
async def get_page_style(ctx: Context) -> Document:  # noqa: ARG001  every handler takes it
    """The look of our own pages."""
    return Document(page_style(), "text/css; charset=utf-8")


@routes.get("/metrics", requires=PUBLIC, cost="free", errors=(NotFound,))
async def get_metrics(ctx: Context) -> Document:
    """Prometheus text; 404 unless `RETINUE_METRICS` is on."""
    metrics = ctx.instance.metrics
    if metrics is None:
        raise NotFound
    return Document(metrics.render(), "text/plain; version=0.0.4; charset=utf-8")


def _asset(name: str) -> bytes:
    return resources.files("retinue.kit.http").joinpath("assets", name).read_bytes()


manifest = Manifest(
    name="kit",
    records=(EventEntry, AuditEntry, AuditHead, Job, Schedule, Attempts, StoredAnswer, VaultKey, InstanceKey),
    routes=(routes,),
    jobs=(sweep_idempotency_keys, sweep_attempts, sweep_dead_jobs, retire_signing_keys),
)
