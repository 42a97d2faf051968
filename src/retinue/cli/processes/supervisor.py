"""The supervisor: it serves nothing, but keeps sockets, limits and processes of all slots (ADR 33)."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress

import structlog

from retinue.cli.processes.fork_server_handle import ForkServerHandle, NotPrepared
from retinue.cli.processes.listeners import (
    Listeners,
    has_balanced_ports,
    stop_listening,
)
from retinue.cli.processes.orders import KILL_AFTER_GRACE_SECONDS, WorkerOrder
from retinue.cli.processes.orphans import reap_orphans
from retinue.cli.processes.run_file import RunFile
from retinue.cli.processes.slots import Slot, WorkerProcess
from retinue.kit.clock import SystemClock
from retinue.kit.peers.keeper import Keeper
from retinue.kit.peers.packets import packet_pair
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier

log = structlog.get_logger("retinue.supervisor")

START_SECONDS = 120.0
"""How long a worker process may take until it serves."""
_EXIT_CODE_SECONDS = 2.0
_REAP_SECONDS = 5.0
_POLL_SECONDS = 0.2
_HURRIED_SECONDS = 5.0


class Supervisor:
    def __init__(
        self,
        settings: Settings,
        listeners: list[Listeners],
        notifier: ServiceNotifier,
        opened_at: str | None = None,
    ) -> None:
        """`opened_at` is when the server began that this supervisor takes over."""
        self._settings = settings
        self._listeners = listeners
        self._notifier = notifier
        self._clock = SystemClock()
        self._opened_at = opened_at or self._clock.now()
        self._keeper = Keeper(self._clock)
        self._slots = [Slot(number) for number in range(len(listeners))]
        self._workers: dict[int, WorkerProcess] = {}
        self._fork_server: ForkServerHandle | None = None
        self._fork_server_pids: set[int] = set()
        self._run_file: RunFile | None = None
        self._wakeup = asyncio.Event()
        self._is_prepared = False
        self._is_stopping = False
        self._is_hurried = False
        self.when_stopping: Callable[[], None] = lambda: None
        self.when_hurried: Callable[[], None] = lambda: None
        self._has_failed = False
        self._is_reload_wanted = False
        self._reloading: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Run until a signal ends it; return the exit code."""
        self._handle_signals()
        self.reap_in_container()
        try:
            self._fork_server = await self._start_fork_server()
            self._run_file = RunFile(self._settings.data_dir, len(self._slots))
            code = await self._start_all(is_first=True)
            if code is not None:
                return code
            self._notifier.ready()
            self._notifier.start_watchdog()
            await self._supervise()
            return 1 if self._has_failed else 0
        finally:
            await self._end()

    async def take_over(self) -> None:
        """Start the workers beside a process that has served alone; raise `NotPrepared` if they cannot."""
        is_served = False
        try:
            self._fork_server = await self._start_fork_server()
            is_served = await self._start_all(is_first=False) is None
        finally:
            if not is_served:
                await self._abandon()
        if not is_served:
            raise NotPrepared("the new process does not serve; the log says why")

    async def _abandon(self) -> None:
        """End what was started, but not the listening: the process that has served goes on."""
        self._is_stopping = True
        for slot in self._slots:
            slot.worker = None
        started = list(self._workers.values())
        for worker in started:
            worker.send_signal(signal.SIGKILL)
        for worker in started:
            await self._wait_for_exit_code(worker)
        if self._fork_server is not None:
            self._fork_server.retire()
            await self._fork_server.close()
        # Last: a worker that loses its keeper ends the listening.
        self._keeper.close()

    async def supervise_until_stopped(self, run_file: RunFile, reload_wanted: asyncio.Event) -> int:
        """Supervise what was taken over until a signal ends it; return the exit code.

        `reload_wanted` is set if another reload was asked for while this one was on its way.
        """
        self._run_file = run_file
        self._handle_signals()
        if reload_wanted.is_set():
            self._want_reload()
        try:
            await self._supervise()
            return 1 if self._has_failed else 0
        finally:
            await self._end()

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._want_reload)

    def reap_in_container(self) -> None:
        """As process 1, reap what others leave behind; this process has no children but fork servers now."""
        if os.getpid() == 1 and not self._is_stopping:
            self._spawn(self._reap_orphans())

    async def _end(self) -> None:
        self._notify_stopping()
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
                # A task of its own: a signal to stop does not wait until a new fork server is prepared.
                self._reloading = self._spawn(self._reload())
                await asyncio.wait([self._reloading])
                if not self._reloading.cancelled():
                    self._reloading.result()

    def _stop(self) -> None:
        """Stop; a second signal skips the wait for replies."""
        if self._is_stopping:
            self._is_hurried = True
            self.when_hurried()
            return
        self._is_stopping = True
        self._notify_stopping()
        self.when_stopping()
        if self._reloading is not None:
            self._reloading.cancel()
        self._wakeup.set()

    def _notify_stopping(self) -> None:
        self._notifier.stopping(self._settings.shutdown_grace + KILL_AFTER_GRACE_SECONDS + _POLL_SECONDS)

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

    async def _start_all(self, *, is_first: bool) -> int | None:
        """Start the first worker, which prepares the database, then the others; return a code if it fails."""
        first = await self._start_worker(self._slots[0], is_first=is_first)
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
        """Start a worker; one that a cancellation overtakes is killed as soon as its pid is known."""
        fork_server = fork_server or self._fork_server
        assert fork_server is not None
        starting = asyncio.create_task(self._order_worker(slot, fork_server, is_first=is_first))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.wait([starting], timeout=_EXIT_CODE_SECONDS)
            if starting.done() and starting.exception() is None:
                starting.result().send_signal(signal.SIGKILL)
            raise

    async def _order_worker(
        self, slot: Slot, fork_server: ForkServerHandle, *, is_first: bool
    ) -> WorkerProcess:
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
        if self._is_stopping and slot.worker is worker and has_balanced_ports():
            # Connections that nobody accepts any more go to the others.
            stop_listening([self._listeners[slot.number]])
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
        assert self._run_file is not None
        self._run_file.record_reload_begun()
        self._notifier.reloading()
        log.info("reload_started")
        fresh, error = None, ""
        try:
            fresh = await self._start_fork_server()
            for slot in self._slots:
                await self._replace(slot, fresh)
        except asyncio.CancelledError:
            log.info("reload_given_up", reason="the server stops")
            if fresh is not None:
                fresh.retire()
            raise
        except (NotPrepared, OSError) as reason:
            error = str(reason)
            log.error("reload_failed", error=error, instead="the old processes go on")  # noqa: TRY400  no bug
            if fresh is not None:
                fresh.retire()
        else:
            old, self._fork_server = self._fork_server, fresh
            assert old is not None
            old.retire()
            log.info("reload_ended")
        self._run_file.record_reload_ended(error)
        self._notifier.ready()
        if error and (self._fork_server is None or self._fork_server.is_gone):
            self._fail()

    async def _replace(self, slot: Slot, fork_server: ForkServerHandle) -> None:
        async with slot.turn:
            fresh = await self._start_worker(slot, fork_server)
            is_served = False
            try:
                is_served = await self._is_served_by(fresh)
            finally:
                if not is_served:
                    fresh.send_signal(signal.SIGKILL)
            if not is_served:
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
        await self._stop_workers(running)
        for worker in running:
            if worker.is_alive:
                log.warning("worker_killed", pid=worker.pid)
                worker.send_signal(signal.SIGKILL)
        for fork_server in fork_servers:
            if fork_server is not None:
                await fork_server.close()
        self._keeper.close()

    async def _stop_workers(self, running: list[WorkerProcess]) -> None:
        """Tell them to stop, and wait until they have or their time is over."""
        for worker in running:
            worker.send_signal(signal.SIGTERM)
        loop = asyncio.get_running_loop()
        until = loop.time() + self._settings.shutdown_grace + KILL_AFTER_GRACE_SECONDS
        is_hurry_told = False
        waiting = {asyncio.ensure_future(worker.gone.wait()) for worker in running}
        while waiting and loop.time() < until:
            waiting = (await asyncio.wait(waiting, timeout=_POLL_SECONDS))[1]
            if self._is_hurried and not is_hurry_told:
                is_hurry_told, until = True, loop.time() + _HURRIED_SECONDS
                for worker in running:
                    worker.send_signal(signal.SIGTERM)
        for late in waiting:
            late.cancel()

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
