"""The server's end of a guest process: calls go in with their descriptors, how they ended comes back."""

import asyncio
import contextlib
import itertools
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

GUEST = Path(__file__).parent / "guest"
_START_S = 30.0
_LONGEST_MESSAGE = 64 * 1024


class Ended(msgspec.Struct, frozen=True):
    """How the process of a call ended: its wait status, -1 if it never ran, a reason if it was stopped."""

    status: int
    cpu_ms: float | None = None
    reason: str = ""


class Message(msgspec.Struct):
    ready: bool = False
    failed: str = ""
    done: int | None = None
    status: int = 0
    cpu_ms: float | None = None
    reason: str = ""


class GuestFailed(Exception):
    """A guest process did not come up; the text says why."""


GONE = Ended(-1, reason="the sandbox process ended")


class Guest:
    """One process that runs calls; it is over when its socket closes."""

    def __init__(
        self, control: socket.socket, kill: Callable[[], None], gone: Callable[[], Awaitable[object]]
    ) -> None:
        """`kill` ends the process, `gone` waits for its end."""
        self._control = control
        self._kill = kill
        self._gone = gone
        self._calls: dict[int, asyncio.Future[Ended]] = {}
        self._numbers = itertools.count(1)
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_over = False
        control.setblocking(False)
        asyncio.get_running_loop().add_reader(control.fileno(), self._hear)

    async def ready(self) -> None:
        try:
            async with asyncio.timeout(_START_S):
                await self._ready
        except TimeoutError:
            await self.close()
            raise GuestFailed("it took too long to start") from None
        except BaseException:
            await self.close()
            raise

    def begin(self, message: dict[str, Any], descriptors: list[int]) -> "Begun":
        """Hand a call over; its descriptors are the guest's own copies from here on."""
        number = next(self._numbers)
        ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._calls[number] = ended
        try:
            socket.send_fds(self._control, [msgspec.json.encode({"start": number, **message})], descriptors)
        except OSError as error:
            self._end(number, Ended(-1, reason=f"the sandbox process takes no calls: {error.strerror}"))
        return Begun(ended, lambda: self._tell({"kill": number}))

    def abandon(self) -> None:
        """End the process and its calls without waiting."""
        self._give_up("it was closed")
        with contextlib.suppress(ProcessLookupError):
            self._kill()

    async def close(self) -> None:
        self.abandon()
        await self._gone()

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._control.send(msgspec.json.encode(message))

    def _hear(self) -> None:
        try:
            text = self._control.recv(_LONGEST_MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if not text:
            self._give_up("its process ended while starting")
            return
        try:
            message = msgspec.json.decode(text, type=Message)
        except msgspec.MsgspecError:
            self.abandon()
            return
        if message.done is not None:
            self._end(message.done, Ended(message.status, message.cpu_ms, message.reason))
        elif not self._ready.done():
            if message.ready:
                self._ready.set_result(None)
            else:
                self._ready.set_exception(GuestFailed(message.failed))

    def _end(self, number: int, ended: Ended) -> None:
        call = self._calls.pop(number, None)
        if call and not call.done():
            call.set_result(ended)

    def _give_up(self, reason: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        asyncio.get_running_loop().remove_reader(self._control.fileno())
        self._control.close()
        if not self._ready.done():
            self._ready.set_exception(GuestFailed(reason))
        for number in list(self._calls):
            self._end(number, GONE)


class Begun(msgspec.Struct, frozen=True):
    ended: asyncio.Future[Ended]
    kill: Callable[[], None]


async def start(program: str, *arguments: str) -> Guest:
    """A guest process of this machine; it gets an empty environment and one descriptor."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-B", str(GUEST / "start.py"), program, *arguments),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise

    guest = Guest(ours, process.kill, process.wait)
    await guest.ready()
    return guest
