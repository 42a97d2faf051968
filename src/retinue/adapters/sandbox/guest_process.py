"""The server's end of a guest process: sends calls with descriptors, receives how they ended."""

import asyncio
import contextlib
import itertools
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from retinue.kit.json_types import JsonObject
from retinue.kit.subprocesses import start_with_socket

GUEST = Path(__file__).parent / "guest"
_START_TIMEOUT_SECONDS = 30.0
_MAX_MESSAGE_BYTES = 64 * 1024


class CallEnded(msgspec.Struct, frozen=True):
    """The end of a call's process: its wait status, -1 if it never ran, and a reason if it was killed."""

    status: int
    cpu_ms: float | None = None
    reason: str = ""


class GuestReport(msgspec.Struct):
    ready: bool = False
    failed: str = ""
    done: int | None = None
    status: int = 0
    cpu_ms: float | None = None
    reason: str = ""


class GuestFailed(Exception):
    """A guest process did not start; the message says why."""


GUEST_GONE = CallEnded(-1, reason="the sandbox process ended")


class Guest:
    """A process that runs calls; it is over when its socket closes."""

    def __init__(
        self, control: socket.socket, kill: Callable[[], None], gone: Callable[[], Awaitable[object]]
    ) -> None:
        """`kill` kills the process, `gone` waits for its end."""
        self._control = control
        self._kill = kill
        self._gone = gone
        self._calls: dict[int, asyncio.Future[CallEnded]] = {}
        self._numbers = itertools.count(1)
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_over = False
        control.setblocking(False)
        asyncio.get_running_loop().add_reader(control.fileno(), self._read_report)

    async def ready(self) -> None:
        try:
            async with asyncio.timeout(_START_TIMEOUT_SECONDS):
                await self._ready
        except TimeoutError:
            await self.close()
            raise GuestFailed("it took too long to start") from None
        except BaseException:
            await self.close()
            raise

    def begin(self, message: JsonObject, descriptors: list[int]) -> "RunningCall":
        """Send a call to the guest, which gets its own copies of the descriptors."""
        number = next(self._numbers)
        ended: asyncio.Future[CallEnded] = asyncio.get_running_loop().create_future()
        self._calls[number] = ended
        try:
            socket.send_fds(self._control, [msgspec.json.encode({"start": number, **message})], descriptors)
        except OSError as error:
            self._finish_call(
                number, CallEnded(-1, reason=f"the sandbox process does not accept calls: {error.strerror}")
            )
        return RunningCall(ended, lambda: self._send({"kill": number}))

    def abandon(self) -> None:
        """Kill the process and its calls without waiting."""
        self._mark_over("it was closed")
        with contextlib.suppress(ProcessLookupError):
            self._kill()

    async def close(self) -> None:
        self.abandon()
        await self._gone()

    def _send(self, message: JsonObject) -> None:
        with contextlib.suppress(OSError):
            self._control.send(msgspec.json.encode(message))

    def _read_report(self) -> None:
        try:
            text = self._control.recv(_MAX_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if not text:
            self._mark_over("its process ended while starting")
            return
        try:
            message = msgspec.json.decode(text, type=GuestReport)
        except msgspec.MsgspecError:
            self.abandon()
            return
        if message.done is not None:
            self._finish_call(message.done, CallEnded(message.status, message.cpu_ms, message.reason))
        elif not self._ready.done():
            if message.ready:
                self._ready.set_result(None)
            else:
                self._ready.set_exception(GuestFailed(message.failed))

    def _finish_call(self, number: int, ended: CallEnded) -> None:
        call = self._calls.pop(number, None)
        if call and not call.done():
            call.set_result(ended)

    def _mark_over(self, reason: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        asyncio.get_running_loop().remove_reader(self._control.fileno())
        self._control.close()
        if not self._ready.done():
            self._ready.set_exception(GuestFailed(reason))
        for number in list(self._calls):
            self._finish_call(number, GUEST_GONE)


class RunningCall(msgspec.Struct, frozen=True):
    ended: asyncio.Future[CallEnded]
    kill: Callable[[], None]


async def start(program: str, *arguments: str) -> Guest:
    """Start a guest process with an empty environment and one descriptor."""
    process, ours = await start_with_socket(
        socket.SOCK_SEQPACKET, str(GUEST / "start.py"), program, *arguments
    )
    guest = Guest(ours, process.kill, process.wait)
    await guest.ready()
    return guest
