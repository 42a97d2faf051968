"""A fork server as its supervisor sees it."""

import asyncio
import json
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import msgspec
import structlog

from retinue.cli.processes.listeners import Listeners
from retinue.cli.processes.orders import OrderChannel, WorkerOrder
from retinue.kit.errors import CannotStart
from retinue.kit.peers.messages import VERSION

log = structlog.get_logger("retinue.supervisor")

_MODULE = "retinue.cli.processes.fork_server"


class NotPrepared(CannotStart):
    """The fork server refused to start."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ForkServerHandle:
    """Starts worker processes and tells how they ended; `when_exited` gets the pid and the exit code."""

    def __init__(self, process: asyncio.subprocess.Process, endpoint: socket.socket) -> None:
        endpoint.setblocking(False)
        self.is_gone = False
        self.when_exited: Callable[[int, int], None] = lambda _pid, _status: None
        self.when_gone: Callable[[], None] = lambda: None
        self.pid = process.pid
        self._process = process
        self._channel = OrderChannel(endpoint)
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._loop.add_reader(endpoint.fileno(), self._read)

    @classmethod
    async def start(cls, slots: list[Listeners]) -> "ForkServerHandle":
        """Start one and wait until it has imported everything; raise `NotPrepared` with its reason.

        A cancellation kills its process.
        """
        ours, theirs = socket.socketpair()
        descriptors = [[listener.fileno() for listener in listeners] for listeners in slots]
        plan = json.dumps({"control": theirs.fileno(), "listeners": descriptors})
        inherited = {theirs.fileno(), *(one for slot in descriptors for one in slot)}
        # Without the current folder among the modules, as the installed command runs; in a session of its
        # own, so that Ctrl-C reaches the supervisor only.
        spawning = asyncio.create_task(
            asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", _MODULE, plan, pass_fds=sorted(inherited), start_new_session=True
            )
        )
        try:
            await asyncio.shield(spawning)
        except asyncio.CancelledError:
            (await spawning).kill()
            raise
        finally:
            theirs.close()
        process = spawning.result()
        handle = cls(process, ours)
        try:
            answer = await handle._answer
        except asyncio.CancelledError:
            process.kill()
            await handle.close()
            raise
        if answer.get("ready") == VERSION:
            return handle
        await handle.close()
        if "failed" in answer:
            raise NotPrepared(answer["failed"], answer["exit_code"])
        raise NotPrepared("the new version needs a restart of the server, a reload is not enough")

    async def start_worker(self, order: WorkerOrder, link: int) -> int:
        """Return the pid of a new worker process."""
        async with self._turn:
            if self.is_gone:
                raise NotPrepared("the fork server has ended")
            self._answer = self._loop.create_future()
            self._send({"start": msgspec.to_builtins(order)}, link)
            answer = await self._answer
            if "started" not in answer:
                raise NotPrepared("the fork server has ended")
            return cast("int", answer["started"])

    def send_signal(self, pid: int, number: signal.Signals) -> None:
        self._send({"signal": int(number), "pid": pid})

    def retire(self) -> None:
        """Let it end with its last worker."""
        self._send({"retire": True})

    def _send(self, message: dict[str, Any], descriptor: int | None = None) -> None:
        if not self.is_gone:
            with suppress(OSError):  # it has just ended, which the next read shows
                self._channel.send(message, descriptor)

    async def close(self) -> None:
        self._part()
        await self._process.wait()

    def _read(self) -> None:
        received = self._channel.receive()
        if received is None:
            self._part()
            self.when_gone()
            return
        for message in received[0]:
            if "exited" in message:
                self.when_exited(message["exited"], message["status"])
            elif not self._answer.done():
                self._answer.set_result(message)

    def _part(self) -> None:
        if self.is_gone:
            return
        self.is_gone = True
        self._loop.remove_reader(self._channel.endpoint.fileno())
        self._channel.endpoint.close()
        if not self._answer.done():
            self._answer.set_result({"failed": "the fork server has ended", "exit_code": 1})
