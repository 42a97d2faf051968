"""The server's end of a model's process: calls go in, parts of answers come back, a hang is its end."""

import asyncio
import contextlib
import itertools
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, get_args

import msgspec
import structlog

from retinue.adapters.embedded.frames import (
    LARGEST_FRAME,
    LENGTH,
    Call,
    Cancel,
    Ended,
    Failed,
    FrameTooLarge,
    Order,
    Part,
    Ready,
    Report,
    Start,
    framed,
)
from retinue.adapters.llm.errors import Kind, ModelError, ModelTimeout

log = structlog.get_logger("retinue.embedded")

_decode = msgspec.msgpack.Decoder(Report).decode
_KINDS = frozenset(get_args(Kind))
_FOLDER = "retinue"
_GONE = "The process of the embedded model ended unexpectedly; the next request starts another."


class ModelProcess:
    """One running child; it is over when its socket closes."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, folder: Path) -> None:
        """`folder` is the child's own, and goes with it."""
        self.name = name
        self._folder = folder
        self.pid = process.pid
        self.is_over = False
        self._process = process
        self._numbers = itertools.count(1)
        self._calls: dict[int, asyncio.Queue[Part | ModelError | None]] = {}
        self._on_end: dict[int, Callable[[], None]] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def listen(self, endpoint: socket.socket, start: Start) -> None:
        reader = asyncio.StreamReader(limit=LARGEST_FRAME)
        transport, protocol = await asyncio.get_running_loop().create_unix_connection(
            lambda: asyncio.StreamReaderProtocol(reader), sock=endpoint
        )
        self._writer = asyncio.StreamWriter(transport, protocol, reader, asyncio.get_running_loop())
        self._hearing = asyncio.create_task(self._hear(reader))
        self._tell(start)

    async def ready(self, longest_s: float) -> None:
        try:
            async with asyncio.timeout(longest_s):
                await asyncio.shield(self._ready)
        except TimeoutError:
            await self.close()
            raise ModelTimeout(f"The embedded model did not load within {longest_s:g} seconds.") from None
        except BaseException:
            await self.close()
            raise

    async def call(
        self, method: str, payload: Any, *, silence_s: float, on_end: Callable[[], None]
    ) -> AsyncGenerator[Any, None]:
        """The parts of an answer; `on_end` is called when the child is done with it, heard or not."""
        number = next(self._numbers)
        heard = self._calls[number] = asyncio.Queue()
        self._on_end[number] = on_end
        try:
            self._ask(Call(number, method, payload))
            while (told := await self._next(heard, silence_s)) is not None:
                if isinstance(told, ModelError):
                    raise told
                yield told.value
        finally:
            self._hang_up(number, silence_s)

    async def close(self) -> None:
        """End the process, and every call with it."""
        self._over("The embedded model was stopped.")
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._hearing.cancel()
        await asyncio.wait([self._hearing])
        await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _next(
        self, heard: asyncio.Queue[Part | ModelError | None], silence_s: float
    ) -> Part | ModelError | None:
        try:
            async with asyncio.timeout(silence_s):
                return await heard.get()
        except TimeoutError:
            self._hung(silence_s)
            raise ModelTimeout(f"The embedded model said nothing for {silence_s:g} seconds.") from None

    def _ask(self, call: Call) -> None:
        if self.is_over:
            self._end(call.number, None)
            raise ModelError("broken_stream", _GONE)
        try:
            self._tell(call)
        except FrameTooLarge as error:
            self._end(call.number, None)
            raise ModelError("invalid_request", f"The request is too large: {error}.") from error

    def _hang_up(self, number: int, silence_s: float) -> None:
        """Stop listening; a child that is still at work is told, and must say soon that it has stopped."""
        if number not in self._calls:
            return
        self._tell(Cancel(number))
        asyncio.get_running_loop().call_later(silence_s, self._check_stopped, number, silence_s)

    def _check_stopped(self, number: int, silence_s: float) -> None:
        if number in self._calls:
            self._hung(silence_s)

    def _hung(self, silence_s: float) -> None:
        log.warning("an embedded model hangs and is killed", model=self.name, silent_s=silence_s)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def _tell(self, order: Order) -> None:
        message = framed(order)
        if not self._writer.is_closing():
            self._writer.write(message)

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        reason = _GONE
        try:
            while True:
                size = LENGTH.unpack(await reader.readexactly(LENGTH.size))[0]
                self._take(_decode(await reader.readexactly(size)))
        except (OSError, EOFError):
            pass
        except msgspec.MsgspecError as error:
            reason = f"The embedded model spoke in no known way: {error}"
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if not self.is_over:
            log.warning("the process of an embedded model ended", model=self.name, pid=self.pid)
        self._over(reason)

    def _take(self, report: Report) -> None:
        if isinstance(report, Part):
            heard = self._calls.get(report.number)
            if heard is not None:
                heard.put_nowait(report)
        elif isinstance(report, Ended):
            error = ModelError(_kind(report.kind), report.reason) if report.kind else None
            self._end(report.number, error)
        elif self._ready.done():
            return
        elif isinstance(report, Ready):
            self._ready.set_result(None)
        elif isinstance(report, Failed):
            self._ready.set_exception(
                ModelError("unreachable", f"The embedded model does not load: {report.reason}")
            )

    def _end(self, number: int, error: ModelError | None) -> None:
        heard = self._calls.pop(number, None)
        if heard is not None:
            heard.put_nowait(error)
            self._on_end.pop(number)()

    def _over(self, reason: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._writer.close()
        if not self._ready.done():
            self._ready.set_exception(ModelError("unreachable", reason))
            # Nobody may be waiting for it any more.
            self._ready.exception()
        for number in list(self._calls):
            self._end(number, ModelError("broken_stream", reason))


async def start(name: str, program: str, options: dict[str, Any], *, longest_s: float) -> ModelProcess:
    """A child with its model loaded; it has an empty environment, one descriptor and one empty folder."""
    folder = await asyncio.to_thread(_own_folder)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with theirs:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-B", "-m", "retinue.adapters.embedded.child", str(os.getpid())),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                cwd=folder,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            await asyncio.to_thread(folder.rmdir)
            raise
    running = ModelProcess(name, process, folder)
    await running.listen(ours, Start(program, options))
    await running.ready(longest_s)
    return running


def _own_folder() -> Path:
    """An empty folder for a child; those that a killed server left behind are removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_FOLDER}-*-*"):
        owner = left.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_FOLDER}-{os.getpid()}-"))


def _kind(name: str) -> Kind:
    return name if name in _KINDS else "overloaded"  # type: ignore[return-value]
