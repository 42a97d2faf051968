"""`retinue serve` with one process: it serves by itself, and a reload makes it its successor's supervisor.

There is no supervisor before that, because most servers are never reloaded (ADR 38).
"""

import asyncio
import signal
import socket

import structlog
import typer
import uvloop

from retinue.cli.processes.fork_server_handle import NotPrepared
from retinue.cli.processes.listeners import bind_patiently
from retinue.cli.processes.run_file import RunFile, find_supervisors
from retinue.cli.processes.supervisor import Supervisor
from retinue.cli.serve_command import ServeCommand
from retinue.kit.clock import SystemClock
from retinue.kit.durable_files import private_umask
from retinue.kit.http.listening_sockets import bind
from retinue.kit.http.server import STOP_SECONDS_AFTER_GRACE, NotStarted
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier, survive_hangups
from retinue.kit.vault import root_keys

log = structlog.get_logger("retinue.supervisor")


class LoneServer:
    def __init__(self, settings: Settings, sockets: list[socket.socket], notifier: ServiceNotifier) -> None:
        self._settings = settings
        self._sockets = sockets
        # The server closes its own when it stops accepting.
        self._kept = [listener.dup() for listener in sockets]
        self._notifier = notifier
        self._opened_at = SystemClock().now()
        self._command = ServeCommand(settings)
        self._command.when_ready = self._ready
        self._command.when_stopping = self._tell_stopping
        self._run_file: RunFile | None = None
        self._reload_wanted = asyncio.Event()
        self._reloading: asyncio.Task[None] | None = None
        self._successor: Supervisor | None = None
        self._supervising: asyncio.Task[int] | None = None

    async def run(self) -> int:
        """Serve until a signal ends it, or until its successor has; return the exit code."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload_wanted.set)
        reloading = self._reloading = asyncio.create_task(self._reload_when_wanted())
        try:
            await self._command.run(sockets=self._sockets)
        finally:
            if self._supervising is None:
                reloading.cancel()
                await asyncio.wait([reloading])
        try:
            if self._supervising is None or self._successor is None:
                return 0
            self._successor.reap_in_container()
            return await self._supervising
        finally:
            self._notifier.stop_watchdog()
            if self._run_file is not None:
                self._run_file.close()
            for listener in self._kept:
                listener.close()

    def _ready(self) -> None:
        self._run_file = RunFile(self._settings.data_dir, processes=1)
        self._notifier.ready()
        self._notifier.start_watchdog()

    def _tell_stopping(self) -> None:
        if self._supervising is None:
            if self._reloading is not None:
                # A successor that begins to serve only now would outlive the stop.
                self._reloading.cancel()
            self._notifier.stopping(self._settings.shutdown_grace + STOP_SECONDS_AFTER_GRACE)

    async def _reload_when_wanted(self) -> None:
        """Start a successor when a signal asks for one, until one serves."""
        while self._supervising is None:
            await self._reload_wanted.wait()
            self._reload_wanted.clear()
            run_file = self._run_file
            if run_file is None:
                continue  # a server that starts has the current code and settings
            run_file.record_reload_begun()
            self._notifier.reloading()
            log.info("reload_started")
            supervisor = Supervisor(self._settings, [self._kept], self._notifier, self._opened_at)
            error = ""
            try:
                await supervisor.take_over()
            except asyncio.CancelledError:
                log.info("reload_given_up", reason="the server stops")
                raise
            except (NotPrepared, OSError) as reason:
                error = str(reason)
                log.error("reload_failed", error=error, instead="the old process goes on")  # noqa: TRY400  no bug
            except Exception as reason:
                error = f"{type(reason).__name__}: {reason}"
                log.exception("reload_failed", instead="the old process goes on")
            else:
                self._hand_over(supervisor, run_file)
                log.info("reload_ended")
            run_file.record_reload_ended(error)
            self._notifier.ready()

    def _hand_over(self, supervisor: Supervisor, run_file: RunFile) -> None:
        """Accept nothing more; replies that run here go on to their end, unless a signal comes first."""
        supervisor.when_stopping = self._command.orphaned.set
        supervisor.when_hurried = self._command.shutting_down.set
        self._run_file = None
        self._successor = supervisor
        supervising = supervisor.supervise_until_stopped(run_file, self._reload_wanted)
        self._supervising = asyncio.create_task(supervising)
        self._command.drain()


def run_server(settings: Settings, host: str, port: int) -> None:
    """Serve with one process until a signal ends it."""
    configure_logging(settings)
    survive_hangups()
    root_keys(settings, may_create=False)
    try:
        sockets = bind_patiently(lambda: bind(host, port), settings.data_dir)
    except OSError as error:
        typer.echo(f"retinue: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    # Files of killed servers are of no use once the address is bound.
    list(find_supervisors(settings.data_dir))
    notifier = ServiceNotifier.from_environment()
    try:
        with private_umask(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            code = runner.run(_serve(settings, sockets, notifier))
    except NotStarted:
        raise typer.Exit(1) from None
    if code:
        raise typer.Exit(code)


async def _serve(settings: Settings, sockets: list[socket.socket], notifier: ServiceNotifier) -> int:
    return await LoneServer(settings, sockets, notifier).run()
