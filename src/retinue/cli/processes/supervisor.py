"""The supervisor: it serves nothing, but keeps sockets, limits and processes of all slots (ADR 33)."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress

import structlog
import typer
import uvloop

from retinue.cli.processes.fork_server_handle import ForkServerHandle, NotPrepared
from retinue.cli.processes.listeners import Listeners, close_listeners, open_listeners
from retinue.cli.processes.orders import WorkerOrder
from retinue.cli.processes.orphans import reap_orphans
from retinue.cli.processes.run_file import RunFile
from retinue.cli.processes.slots import Slot, WorkerProcess
from retinue.kit.clock import SystemClock
from retinue.kit.durable_files import private_umask
from retinue.kit.logging import configure_logging
from retinue.kit.peers.keeper import Keeper
from retinue.kit.peers.packets import packet_pair
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier

log = structlog.get_logger("retinue.supervisor")

START_SECONDS = 120.0
"""How long a worker process may take until it serves."""
_KILL_AFTER_GRACE_SECONDS = 5.0
_EXIT_CODE_SECONDS = 2.0
_REAP_SECONDS = 5.0


class Supervisor:
    def __init__(self, settings: Settings, listeners: list[Listeners], notifier: ServiceNotifier) -> None:
        self._settings = settings
        self._listeners = listeners
        self._notifier = notifier
        self._clock = SystemClock()
        self._opened_at = self._clock.now()
        self._keeper = Keeper(self._clock)
        self._slots = [Slot(number) for number in range(settings.processes)]
        self._workers: dict[int, WorkerProcess] = {}
        self._fork_server: ForkServerHandle | None = None
        self._fork_server_pids: set[int] = set()
        self._run_file: RunFile | None = None
        self._wakeup = asyncio.Event()
        self._is_prepared = False
        self._is_stopping = False
        self._has_failed = False
        self._is_reload_wanted = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Run until a signal ends it; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._want_reload)
        if os.getpid() == 1:
            self._spawn(self._reap_orphans())
        try:
            self._fork_server = await self._start_fork_server()
            code = await self._start_all()
            if code is not None:
                return code
            self._run_file = RunFile(self._settings.data_dir, len(self._slots))
            self._notifier.ready()
            self._notifier.start_watchdog()
            await self._supervise()
            return 1 if self._has_failed else 0
        finally:
            self._notifier.stopping()
            await self._end_all()
            self._notifier.stop_watchdog()
            if self._run_file is not None:
                self._run_file.close()

    async def _reap_orphans(self) -> None:
        """In a container this is process 1, which inherits the children of killed workers."""
        while True:
            await asyncio.sleep(_REAP_SECONDS)
            reap_orphans(self._fork_server_pids)

    async def _supervise(self) -> None:
        while not self._is_stopping:
            await self._wakeup.wait()
            self._wakeup.clear()
            if self._is_reload_wanted and not self._is_stopping:
                self._is_reload_wanted = False
                await self._reload()

    def _stop(self) -> None:
        self._is_stopping = True
        self._wakeup.set()

    def _fail(self) -> None:
        self._has_failed = True
        self._stop()

    def _want_reload(self) -> None:
        self._is_reload_wanted = True
        self._wakeup.set()

    async def _start_fork_server(self) -> ForkServerHandle:
        started = await ForkServerHandle.start(self._listeners)
        self._fork_server_pids.add(started.pid)
        started.when_exited = self._worker_exited
        started.when_gone = lambda: self._fork_server_gone(started)
        return started

    async def _start_all(self) -> int | None:
        """Start the first worker, which prepares the database, then the others; return a code if it fails."""
        first = await self._start_worker(self._slots[0], is_first=True)
        self._slots[0].worker = first
        if not await self._is_served_by(first):
            await self._wait_for_exit_code(first)
            return 0 if self._is_stopping else first.exit_code or 1
        self._is_prepared = True
        await asyncio.gather(*(self._start_slot(slot) for slot in self._slots[1:]))
        return None

    async def _start_slot(self, slot: Slot) -> None:
        async with slot.turn:
            if slot.worker is not None or self._is_stopping:
                return
            worker = slot.worker = await self._start_worker(slot)
            if not worker.is_alive:
                # It died before the slot knew it.
                self._worker_gone(slot, worker)
            elif not await self._is_served_by(worker) and not self._is_stopping:
                worker.send_signal(signal.SIGKILL)

    async def _start_worker(
        self, slot: Slot, fork_server: ForkServerHandle | None = None, *, is_first: bool = False
    ) -> WorkerProcess:
        fork_server = fork_server or self._fork_server
        assert fork_server is not None
        ours, theirs = packet_pair()
        worker = WorkerProcess(self._keeper.join(ours, slot.number), fork_server)
        worker.member.when_gone = lambda: self._worker_gone(slot, worker)
        order = WorkerOrder(slot.number, len(self._slots), self._opened_at, is_first)
        try:
            worker.pid = await fork_server.start_worker(order, theirs.fileno())
        finally:
            theirs.close()
        self._workers[worker.pid] = worker
        return worker

    async def _is_served_by(self, worker: WorkerProcess) -> bool:
        """Wait until a worker serves; return False if it died, did not in time, or all are to stop."""
        loop = asyncio.get_running_loop()
        until = loop.time() + START_SECONDS
        while worker.is_alive and not self._is_stopping and loop.time() < until:
            if worker.ready.is_set():
                return True
            await asyncio.sleep(0.01)
        return False

    def _worker_exited(self, pid: int, code: int) -> None:
        worker = self._workers.pop(pid, None)
        if worker is not None:
            worker.exit_code = code
            worker.exited.set()

    async def _wait_for_exit_code(self, worker: WorkerProcess) -> None:
        try:
            async with asyncio.timeout(_EXIT_CODE_SECONDS):
                await worker.exited.wait()
        except TimeoutError:
            pass

    def _worker_gone(self, slot: Slot, worker: WorkerProcess) -> None:
        """Replace a worker that died; one that was replaced already may go."""
        worker.gone.set()
        if slot.worker is not worker or self._is_stopping or not self._is_prepared:
            return
        slot.worker = None
        now = self._clock.monotonic()
        slot.record_death(now)
        if slot.is_failing(now):
            log.error("worker_processes_keep_dying", slot=slot.number)
            self._fail()
            return
        self._spawn(self._restart(slot, worker, slot.restart_delay(now)))

    async def _restart(self, slot: Slot, died: WorkerProcess, delay: float) -> None:
        await self._wait_for_exit_code(died)
        log.warning("worker_died", slot=slot.number, pid=died.pid, exit_code=died.exit_code, restart_in=delay)
        self._workers.pop(died.pid, None)
        await asyncio.sleep(delay)
        # Without its fork server nothing can start; the reload that replaces it starts this slot as well.
        with suppress(NotPrepared):
            await self._start_slot(slot)

    def _fork_server_gone(self, fork_server: ForkServerHandle) -> None:
        if fork_server is self._fork_server and not self._is_stopping:
            log.error("fork_server_died")
            self._want_reload()

    async def _reload(self) -> None:
        """Replace every worker by one of a new fork server: new code and settings, no failed request."""
        self._notifier.reloading()
        log.info("reload_started")
        fresh, error = None, ""
        try:
            fresh = await self._start_fork_server()
            for slot in self._slots:
                await self._replace(slot, fresh)
        except (NotPrepared, OSError) as reason:
            error = str(reason)
            log.error("reload_failed", error=error, instead="the old processes go on")  # noqa: TRY400  no bug
            if fresh is not None:
                fresh.retire()
            if self._fork_server is None or self._fork_server.is_gone:
                self._fail()
        else:
            old, self._fork_server = self._fork_server, fresh
            assert old is not None
            old.retire()
            log.info("reload_ended")
        assert self._run_file is not None
        self._run_file.record_reload(error)
        self._notifier.ready()

    async def _replace(self, slot: Slot, fork_server: ForkServerHandle) -> None:
        async with slot.turn:
            fresh = await self._start_worker(slot, fork_server)
            if not await self._is_served_by(fresh):
                fresh.send_signal(signal.SIGKILL)
                raise NotPrepared(f"the new process of slot {slot.number} does not serve; the log says why")
            old, slot.worker = slot.worker, fresh
            if old is not None and old.is_alive:
                self._keeper.drain(old.member)

    async def _end_all(self) -> None:
        """Stop all workers in parallel; kill those that have not ended after the grace period."""
        self._is_stopping = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        running = list(self._workers.values())
        fork_servers = {worker.fork_server for worker in running} | {self._fork_server}
        for worker in running:
            worker.send_signal(signal.SIGTERM)
        if running:
            grace = self._settings.shutdown_grace + _KILL_AFTER_GRACE_SECONDS
            waiting = [asyncio.ensure_future(worker.gone.wait()) for worker in running]
            for late in (await asyncio.wait(waiting, timeout=grace))[1]:
                late.cancel()
            for worker in running:
                if worker.is_alive:
                    log.warning("worker_killed", pid=worker.pid)
                    worker.send_signal(signal.SIGKILL)
        for fork_server in fork_servers:
            if fork_server is not None:
                await fork_server.close()
        self._keeper.close()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def run_supervisor(settings: Settings, host: str, port: int) -> None:
    """Serve with several processes until a signal ends them."""
    configure_logging(settings)
    notifier = ServiceNotifier.from_environment()
    try:
        listeners = open_listeners(host, port, settings.processes)
    except OSError as error:
        typer.echo(f"retinue: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    try:
        with private_umask(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            code = runner.run(_supervise(settings, listeners, notifier))
    finally:
        close_listeners(listeners)
    raise typer.Exit(code)


async def _supervise(settings: Settings, listeners: list[Listeners], notifier: ServiceNotifier) -> int:
    return await Supervisor(settings, listeners, notifier).run()
