"""The service: an opened instance with its HTTP interface."""

import asyncio
import functools
from typing import Any

from retinue.adapters.sandbox import Sandbox
from retinue.auth.bootstrap import bootstrap_instance
from retinue.auth.setup import issue_link_token
from retinue.domains import DOMAINS
from retinue.kit.clock import Clock
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import finish_states
from retinue.kit.http.app import App
from retinue.kit.http.openapi import describe
from retinue.kit.http.route_tree import RouteTree
from retinue.kit.http.uploads import sweep_spool
from retinue.kit.jobs.runner import Runner
from retinue.kit.jobs.wakeup import announce_work
from retinue.kit.peers import FirstReport, Peers
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault.key_refresh import KeyRefresher
from retinue.wiring import close_instance, open_instance, sampler_for

# No upload stays in the spool this long; an older file was left there by a crash.
_MAX_SPOOL_AGE_SECONDS = 3600
# The sandboxes are tested, with attacks, once the instance is up, so that its start does not wait for them.
_SANDBOX_PROBE_DELAY_SECONDS = 2
_REPORT_SECONDS = 1.0


class Service:
    """The whole instance as one ASGI application."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        manifests: tuple[Manifest, ...] = DOMAINS,
        shutting_down: asyncio.Event | None = None,
        peers: Peers | None = None,
        *,
        is_first: bool = True,
    ) -> None:
        """`shutting_down` is set when the shutdown begins, so that streams can end properly.

        A process with `peers` is one of several that a supervisor started; the one that `is_first` issues the
        link for setting up.
        """
        self.settings = settings
        self._clock = clock
        self._manifests = manifests
        self._shutting_down = shutting_down or asyncio.Event()
        self._peers = peers or Peers()
        self._is_first = is_first
        self.new_password: Secret | None = None
        self.setup_token: Secret | None = None
        self._probe_task: asyncio.Task[None] | None = None
        self._report_task: asyncio.Task[None] | None = None
        self._runner_stop: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self.instance = await open_instance(self.settings, self._clock, self._manifests, peers=self._peers)
        self.instance.shutting_down = self._shutting_down
        self.app = App(self.instance)
        check_permissions(self._manifests)
        self.instance.openapi = functools.cache(
            lambda: describe(self.app.tree.routes, self.settings.base_url, self._manifests)
        )
        self.new_password = await bootstrap_instance(self.instance)
        if self._is_first:
            self.setup_token = await issue_link_token(self.instance)
        self.refresher = KeyRefresher(self.instance)
        await self.refresher.start()
        self.runner = Runner(self.instance)
        self.sampler = sampler_for(self.instance)
        self.sampler.start(reads_database=self.settings.worker == "inline")
        if self.settings.worker == "inline":
            self.instance.worker_status = self._worker_status
            await self.runner.start()
        else:
            if self.settings.is_worker_in_first_process:
                self.instance.worker_status = lambda: self._peers.first_report.worker
            announce_work(self.instance)
        if self._peers.expected > 1:
            self._share_status()

    def probe_sandboxes(self) -> asyncio.Task[None]:
        """Test the sandboxes in the background; `/health` reports the result, and the log what is missing."""
        self._probe_task = asyncio.create_task(self._probe())
        return self._probe_task

    async def _probe(self) -> None:
        await asyncio.sleep(_SANDBOX_PROBE_DELAY_SECONDS)
        # Here, because the start need not wait for this cleanup.
        await asyncio.to_thread(sweep_spool, self.settings.data_dir / "tmp", _MAX_SPOOL_AGE_SECONDS)
        if self._peers.slot != 0:
            return  # the first process tells what it found; a sandbox is tested again before its first use
        await self.instance.adapters[Sandbox].status()

    def _share_status(self) -> None:
        """Let the first process tell the others what only it knows: its worker, and the tested sandboxes."""
        if self._peers.slot == 0:
            self._report_task = asyncio.create_task(self._report())
            return
        tested_here = self.instance.sandbox_status

        def known() -> dict[str, str]:
            first = self._peers.first_report.sandbox
            return {
                name: first.get(name, status) if status == "not tried yet" else status
                for name, status in tested_here().items()
            }

        self.instance.sandbox_status = known

    async def _report(self) -> None:
        instance = self.instance
        while True:
            self._peers.report(FirstReport(instance.worker_status(), instance.sandbox_status()))
            await asyncio.sleep(_REPORT_SECONDS)

    def drain(self) -> None:
        """Leave new jobs and endless streams to the process that takes over."""
        self.instance.draining.set()
        if self.settings.worker == "inline" and self._runner_stop is None:
            self._runner_stop = asyncio.create_task(
                self.runner.stop(self.settings.shutdown_grace, until=self.instance.shutting_down)
            )

    async def finish_work(self) -> None:
        """Begin no new turn or job, and wait until those that run have ended; jobs may be given back."""
        self.instance.stopping.set()
        self.drain()
        if self._runner_stop is not None:
            await asyncio.wait([self._runner_stop])
        await finish_states(self.instance)

    async def stop(self) -> None:
        self.instance.stopping.set()
        self.instance.shutting_down.set()
        self.instance.draining.set()
        if self._report_task is not None:
            self._report_task.cancel()
            await asyncio.wait([self._report_task])
        if self._probe_task is not None:
            self._probe_task.cancel()
            await asyncio.wait([self._probe_task])
        if self._runner_stop is not None:
            await self._runner_stop
        elif self.settings.worker == "inline":
            await self.runner.stop(self.settings.shutdown_grace)
        await self.sampler.stop()
        await self.refresher.stop()
        await close_instance(self.instance)

    def _worker_status(self) -> str:
        return self.runner.status().label

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
    """Raise if a route requires a permission that no manifest declares: nobody could be granted it."""
    known = {permission.key for manifest in manifests for permission in manifest.permissions}
    for manifest in manifests:
        for group in manifest.routes:
            for route in group.routes:
                if route.permission is not None and route.permission not in known:
                    raise TypeError(f"{route.method} {route.path}: unknown permission {route.permission}")


def openapi_document() -> bytes:
    """Return the OpenAPI document that is checked in under docs/reference."""
    tree = RouteTree(route for manifest in DOMAINS for group in manifest.routes for route in group.routes)
    return describe(tree.routes, "http://127.0.0.1:8080", DOMAINS)
