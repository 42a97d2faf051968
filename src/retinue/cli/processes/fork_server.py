"""The fork server: it has imported everything, so that a worker process starts at once and shares its memory.

`python -m retinue.cli.processes.fork_server PLAN`, started by the supervisor and again by each reload, which
brings new code and settings. It has neither an event loop nor threads. Without its supervisor it ends, and
so do its workers.
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress

import msgspec

from retinue.cli.processes.listeners import stop_listening
from retinue.cli.processes.orders import KILL_AFTER_GRACE_SECONDS, OrderChannel, WorkerOrder
from retinue.kit.durable_files import private_umask
from retinue.kit.errors import CannotStart, RetinueError
from retinue.kit.peers.messages import VERSION
from retinue.kit.settings import BadSetting, Settings
from retinue.kit.systemd import survive_hangups

_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class WorkerForkServer:
    def __init__(
        self, channel: OrderChannel, listeners: list[list[socket.socket]], settings: Settings
    ) -> None:
        self._channel = channel
        self._listeners = listeners
        self._settings = settings
        self._children: set[int] = set()
        self._is_retired = False
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = os.pipe()

    def run(self) -> None:
        """Start workers on order until the supervisor is gone, or wants no more and the last has ended."""
        for end in (self._wake_reader, self._wake_writer):
            os.set_blocking(end, False)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        self._selector.register(self._channel.endpoint, selectors.EVENT_READ)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        while self._children or not self._is_retired:
            for key, _ in self._selector.select():
                if key.fd == self._wake_reader:
                    os.read(self._wake_reader, 4096)
                elif not self._follow_orders():
                    self._end_children()
                    return
            self._reap()

    def _follow_orders(self) -> bool:
        """Return False once the supervisor is gone."""
        received = self._channel.receive()
        if received is None:
            return False
        orders, descriptors = received
        for order in orders:
            if "start" in order:
                self._start(msgspec.convert(order["start"], WorkerOrder), descriptors.pop(0))
            elif "signal" in order and order["pid"] in self._children:
                # Only to a child that was not reaped: its number cannot belong to another process.
                os.kill(order["pid"], order["signal"])
            elif "retire" in order:
                self._is_retired = True
        return True

    def _start(self, order: WorkerOrder, link: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_worker(order, link)
        os.close(link)
        self._children.add(pid)
        self._channel.send({"started": pid})

    def _become_worker(self, order: WorkerOrder, link: int) -> None:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            survive_hangups()
            self._selector.close()
            os.close(self._wake_reader)
            os.close(self._wake_writer)
            self._channel.endpoint.close()
            own = self._listeners[order.slot]
            for listeners in self._listeners:
                for listener in listeners:
                    if listener not in own:
                        listener.close()
            gc.enable()
            from retinue.cli.processes.worker_process import run_worker_process

            status = run_worker_process(self._settings, own, order, link)
        except BaseException:  # noqa: BLE001  a forked process must never return into its parent's code
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _reap(self) -> None:
        for pid in list(self._children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._children.discard(pid)
                with suppress(OSError):  # the supervisor may be gone, which the next look shows
                    self._channel.send({"exited": pid, "status": os.waitstatus_to_exitcode(status)})

    def _end_children(self) -> None:
        """The workers notice by themselves that the supervisor is gone; one that does not is killed.

        The address is free at once, for the server that is started instead. Without workers there is no such
        server: the sockets belong to one that wanted to be replaced and could not.
        """
        if self._children:
            stop_listening(self._listeners)
        give_up_at = time.monotonic() + self._settings.shutdown_grace + KILL_AFTER_GRACE_SECONDS
        while self._children:
            for pid in list(self._children):
                if time.monotonic() > give_up_at:
                    os.kill(pid, signal.SIGKILL)
                if os.waitpid(pid, os.WNOHANG)[0]:
                    self._children.discard(pid)
            time.sleep(0.05)


def main() -> None:
    survive_hangups()
    gc.disable()
    plan = json.loads(sys.argv[1])
    channel = OrderChannel(socket.socket(fileno=plan["control"]))
    # Without balanced ports all slots have the same descriptors: one object each, or closing one closes all.
    opened_by_number = {number: socket.socket(fileno=number) for slot in plan["listeners"] for number in slot}
    listeners = [[opened_by_number[number] for number in slot] for slot in plan["listeners"]]
    for opened in (channel.endpoint, *opened_by_number.values()):
        opened.set_inheritable(False)
    try:
        settings = _prepare()
    except (BadSetting, CannotStart, RetinueError, OSError) as error:
        code = 2 if isinstance(error, BadSetting) else getattr(error, "exit_code", 1)
        channel.send({"failed": str(error), "exit_code": code})
        return
    # The workers share these objects' memory for as long as nobody writes to it.
    gc.collect()
    gc.freeze()
    channel.send({"ready": VERSION})
    with private_umask():
        WorkerForkServer(channel, listeners, settings).run()


def _prepare() -> Settings:
    from retinue.cli.command_settings import read_settings

    settings = read_settings()
    # Imported for the workers.
    from retinue.cli.processes import worker_process

    worker_process.preload(settings)
    return settings


if __name__ == "__main__":
    main()
