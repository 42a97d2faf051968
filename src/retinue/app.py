"""The service: the opened instance with its way in."""

import asyncio
import functools
from typing import Any

from retinue.adapters.sandbox import Sandbox
from retinue.auth.bootstrap import first_start
from retinue.domains import DOMAINS
from retinue.kit.clock import Clock
from retinue.kit.http.app import App
from retinue.kit.http.openapi import describe
from retinue.kit.http.uploads import sweep_spool
from retinue.kit.jobs.runner import Runner
from retinue.kit.jobs.wakeup import announce_work
from retinue.kit.manifest import Manifest
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault.refresh import Refresher
from retinue.wiring import close_instance, open_instance

# No upload waits so long in the spool; what is older was left there by a crash.
_SPOOLED_S = 3600
# The sandboxes are started and attacked once the instance is up, so that its start does not wait for them.
_PROBE_AFTER_S = 2


class Service:
    """The whole instance as one ASGI application."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        manifests: tuple[Manifest, ...] = DOMAINS,
        shutting_down: asyncio.Event | None = None,
    ) -> None:
        """`shutting_down` is whatever tells that the end has begun, so that streams can say goodbye."""
        self.settings = settings
        self._clock = clock
        self._manifests = manifests
        self._shutting_down = shutting_down or asyncio.Event()
        self.new_password: Secret | None = None
        self._probing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await asyncio.to_thread(sweep_spool, self.settings.data_dir / "tmp", _SPOOLED_S)
        self.instance = await open_instance(self.settings, self._clock, self._manifests)
        self.instance.shutting_down = self._shutting_down
        self.app = App(self.instance)
        check_permissions(self._manifests)
        self.instance.openapi = functools.cache(
            lambda: describe(self.app.tree.routes, self.settings.base_url)
        )
        self.new_password = await first_start(self.instance)
        self.refresher = Refresher(self.instance)
        await self.refresher.start()
        self.runner = Runner(self.instance)
        if self.settings.worker == "inline":
            self.instance.worker_status = self._worker_status
            await self.runner.start()
        else:
            announce_work(self.instance)

    def probe_sandboxes(self) -> None:
        """Find out soon which sandboxes work; health says it, and the log what is missing."""
        self._probing = asyncio.create_task(self._probe())

    async def _probe(self) -> None:
        await asyncio.sleep(_PROBE_AFTER_S)
        await self.instance.adapters[Sandbox].status()

    async def stop(self) -> None:
        self.instance.shutting_down.set()
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.wait([self._probing])
        if self.settings.worker == "inline":
            await self.runner.stop()
        await self.refresher.stop()
        await close_instance(self.instance)

    def _worker_status(self) -> str:
        return "ok" if self.runner.status().is_well else "stalled"

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


def openapi_document() -> bytes:
    """The description of the API as it is checked into the documentation."""
    from retinue.kit.http.tree import RouteTree

    tree = RouteTree(route for manifest in DOMAINS for group in manifest.routes for route in group.routes)
    return describe(tree.routes, "http://127.0.0.1:8080")
