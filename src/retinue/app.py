"""The composition: settings in, a running service out."""

import dataclasses
from typing import Any

import structlog

from retinue.adapters.blobs import Blobs, LocalBlobs
from retinue.adapters.mail import Mailer, mailer_for
from retinue.auth.bootstrap import first_start
from retinue.auth.principals import authenticate
from retinue.domains import DOMAINS
from retinue.kit import failpoints
from retinue.kit.clock import Clock, SystemClock
from retinue.kit.db.engine import database_for
from retinue.kit.egress import Egress
from retinue.kit.http.app import App
from retinue.kit.http.openapi import describe
from retinue.kit.instance import Instance
from retinue.kit.jobs.runner import Runner
from retinue.kit.limits import Limiter, MemoryStore
from retinue.kit.manifest import Manifest
from retinue.kit.metrics import Metrics
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.tokens import TokenIssuer
from retinue.kit.vault import open_vault
from retinue.migrations.upgrade import upgrade

log = structlog.get_logger("retinue")


async def open_instance(
    settings: Settings, clock: Clock | None = None, manifests: tuple[Manifest, ...] = DOMAINS
) -> Instance:
    """Everything but the way in: database, vault, limits, adapters."""
    clock = clock or SystemClock()
    failpoints.arm(settings.failpoints)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    database = database_for(settings)
    await database.open()
    try:
        await upgrade(settings, database)
        vault = await open_vault(settings, database, clock)
    except BaseException:
        await database.close()
        raise
    if vault.sealed_because:
        log.warning("the vault is sealed", reason=vault.sealed_because)
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
            Egress: Egress(settings.egress_allowed()),
        },
        metrics=Metrics() if settings.metrics else None,
    )


def _limiter(settings: Settings, clock: Clock) -> Limiter:
    local = MemoryStore(clock)
    if not settings.redis_url:
        return Limiter(local, burst=settings.burst)
    from retinue.kit.limits.redis import RedisStore

    return Limiter(local, RedisStore.connect(settings.redis_url), burst=settings.burst)


async def close_instance(instance: Instance) -> None:
    await instance.adapters[Egress].close()
    await instance.limiter.close()
    await instance.database.close()


class Service:
    """The whole instance as one ASGI application."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, manifests: tuple[Manifest, ...] = DOMAINS
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._manifests = manifests
        self.new_password: Secret | None = None

    async def start(self) -> None:
        self.instance = await open_instance(self.settings, self._clock, self._manifests)
        self.app = App(self.instance, authenticate)
        check_permissions(self._manifests)
        self.instance.openapi = describe(self.app.tree.routes, self.settings.base_url)
        self.new_password = await first_start(self.instance)
        self.runner = Runner(self.instance)
        if self.settings.worker == "inline":
            await self.runner.start()

    async def stop(self) -> None:
        self.instance.shutting_down.set()
        if self.settings.worker == "inline":
            await self.runner.stop()
        await close_instance(self.instance)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self.app(scope, receive, send)

    async def _lifespan(self, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.start()
                except Exception as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    raise
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


def check_permissions(manifests: tuple[Manifest, ...]) -> None:
    """A route whose permission nobody declared would be closed to everyone, or worse; neither starts."""
    known = {permission.key for manifest in manifests for permission in manifest.permissions}
    for manifest in manifests:
        for group in manifest.routes:
            for route in group.routes:
                if route.permission is not None and route.permission not in known:
                    raise TypeError(f"{route.method} {route.path}: unknown permission {route.permission}")


def with_base_url(settings: Settings, host: str, port: int) -> Settings:
    """The public address is what was configured, else the address that was bound."""
    if settings.base_url:
        return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
    shown = "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host  # noqa: S104  compared, not bound
    shown = f"[{shown}]" if ":" in shown else shown
    return dataclasses.replace(settings, base_url=f"http://{shown}:{port}")


def openapi_document() -> bytes:
    """The description of the API as it is checked into the documentation."""
    from retinue.kit.http.tree import RouteTree

    tree = RouteTree(route for manifest in DOMAINS for group in manifest.routes for route in group.routes)
    return describe(tree.routes, "http://127.0.0.1:8080")
