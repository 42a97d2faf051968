"""The server's end of a model's process: sends calls, receives parts of answers, and kills it if it hangs."""

import asyncio
import contextlib
import itertools
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, get_args

import msgspec
import structlog

from retinue.adapters.embedded.frames import (
    FRAME_LENGTH,
    MAX_FRAME_BYTES,
    CallEndedFrame,
    CallFrame,
    CancelFrame,
    ChildFrame,
    FrameTooLarge,
    LoadFailedFrame,
    PartFrame,
    ReadyFrame,
    ServerFrame,
    StartFrame,
    encode_frame,
)
from retinue.adapters.llm.errors import ModelError, ModelErrorKind, ModelTimeout
from retinue.kit.json_types import JsonObject
from retinue.kit.subprocesses import start_with_socket

log = structlog.get_logger("retinue.embedded")

_decode = msgspec.msgpack.Decoder(ChildFrame).decode
_KINDS = frozenset(get_args(ModelErrorKind))
_FOLDER = "retinue"
_PROCESS_ENDED = "The embedded model's process ended unexpectedly. Try again; the next request restarts it."


class ModelProcess:
    """A running child process; it is over when its socket closes."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, folder: Path) -> None:
        """`folder` belongs to the child and is deleted with it."""
        self.name = name
        self._folder = folder
        self.pid = process.pid
        self.is_over = False
        self._process = process
        self._numbers = itertools.count(1)
        self._calls: dict[int, asyncio.Queue[PartFrame | ModelError | None]] = {}
        self._on_end: dict[int, Callable[[], None]] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def listen(self, endpoint: socket.socket, start: StartFrame) -> None:
        reader = asyncio.StreamReader(limit=MAX_FRAME_BYTES)
        transport, protocol = await asyncio.get_running_loop().create_unix_connection(
            lambda: asyncio.StreamReaderProtocol(reader), sock=endpoint
        )
        self._writer = asyncio.StreamWriter(transport, protocol, reader, asyncio.get_running_loop())
        self._reader_task = asyncio.create_task(self._read_frames(reader))
        self._send_frame(start)

    async def ready(self, timeout_s: float) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.shield(self._ready)
        except TimeoutError:
            await self.close()
            raise ModelTimeout(f"The embedded model did not load within {timeout_s:g} seconds.") from None
        except BaseException:
            await self.close()
            raise

    async def call(
        self, method: str, payload: Any, *, max_silence_s: float, on_end: Callable[[], None]
    ) -> AsyncGenerator[Any, None]:
        """Yield the parts of an answer; `on_end` is called when the child is done, cancelled or not."""
        number = next(self._numbers)
        replies = self._calls[number] = asyncio.Queue()
        self._on_end[number] = on_end
        try:
            self._send_call(CallFrame(number, method, payload))
            while (reply := await self._next(replies, max_silence_s)) is not None:
                if isinstance(reply, ModelError):
                    raise reply
                yield reply.value
        finally:
            self._cancel_call(number, max_silence_s)

    async def close(self) -> None:
        """Kill the process and fail its calls."""
        self._mark_over("The embedded model was stopped.")
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._reader_task.cancel()
        await asyncio.wait([self._reader_task])
        await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _next(
        self, replies: asyncio.Queue[PartFrame | ModelError | None], max_silence_s: float
    ) -> PartFrame | ModelError | None:
        try:
            async with asyncio.timeout(max_silence_s):
                return await replies.get()
        except TimeoutError:
            self._kill_hung_process(max_silence_s)
            raise ModelTimeout(f"The embedded model sent nothing for {max_silence_s:g} seconds.") from None

    def _send_call(self, call: CallFrame) -> None:
        if self.is_over:
            self._finish_call(call.number, None)
            raise ModelError("broken_stream", _PROCESS_ENDED)
        try:
            self._send_frame(call)
        except FrameTooLarge as error:
            self._finish_call(call.number, None)
            raise ModelError("invalid_request", f"The request is too large: {error}.") from error

    def _cancel_call(self, number: int, max_silence_s: float) -> None:
        """Cancel a call that is still running; a child that does not confirm in time is killed."""
        if number not in self._calls:
            return
        self._send_frame(CancelFrame(number))
        asyncio.get_running_loop().call_later(max_silence_s, self._check_stopped, number, max_silence_s)

    def _check_stopped(self, number: int, max_silence_s: float) -> None:
        if number in self._calls:
            self._kill_hung_process(max_silence_s)

    def _kill_hung_process(self, max_silence_s: float) -> None:
        log.warning("embedded_model_killed", model=self.name, silent_s=max_silence_s)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def _send_frame(self, order: ServerFrame) -> None:
        message = encode_frame(order)
        if not self._writer.is_closing():
            self._writer.write(message)

    async def _read_frames(self, reader: asyncio.StreamReader) -> None:
        reason = _PROCESS_ENDED
        try:
            while True:
                size = FRAME_LENGTH.unpack(await reader.readexactly(FRAME_LENGTH.size))[0]
                self._handle_frame(_decode(await reader.readexactly(size)))
        except (OSError, EOFError):
            pass
        except msgspec.MsgspecError as error:
            reason = f"The embedded model's process sent an invalid message: {error}"
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if not self.is_over:
            log.warning("embedded_model_ended", model=self.name, pid=self.pid)
        self._mark_over(reason)

    def _handle_frame(self, report: ChildFrame) -> None:
        if isinstance(report, PartFrame):
            replies = self._calls.get(report.number)
            if replies is not None:
                replies.put_nowait(report)
        elif isinstance(report, CallEndedFrame):
            error = ModelError(_error_kind(report.kind), report.reason) if report.kind else None
            self._finish_call(report.number, error)
        elif self._ready.done():
            return
        elif isinstance(report, ReadyFrame):
            self._ready.set_result(None)
        elif isinstance(report, LoadFailedFrame):
            self._ready.set_exception(
                ModelError("unreachable", f"The embedded model could not be loaded: {report.reason}")
            )

    def _finish_call(self, number: int, error: ModelError | None) -> None:
        replies = self._calls.pop(number, None)
        if replies is not None:
            replies.put_nowait(error)
            self._on_end.pop(number)()

    def _mark_over(self, reason: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._writer.close()
        if not self._ready.done():
            self._ready.set_exception(ModelError("unreachable", reason))
            # Mark the exception as retrieved: there may be no waiter left.
            self._ready.exception()
        for number in list(self._calls):
            self._finish_call(number, ModelError("broken_stream", reason))


async def start(name: str, program: str, options: JsonObject, *, timeout_s: float) -> ModelProcess:
    """Start a child and load its model; it gets an empty environment, one descriptor and one empty folder."""
    folder = await asyncio.to_thread(_create_folder)
    try:
        process, ours = await start_with_socket(
            socket.SOCK_STREAM,
            *("-m", "retinue.adapters.embedded.child", str(os.getpid())),
            folder=folder,
        )
    except BaseException:
        await asyncio.to_thread(folder.rmdir)
        raise
    running = ModelProcess(name, process, folder)
    await running.listen(ours, StartFrame(program, options))
    await running.ready(timeout_s)
    return running


def _create_folder() -> Path:
    """Create an empty folder for a child, and remove those left behind by killed servers."""
    for stale in Path(tempfile.gettempdir()).glob(f"{_FOLDER}-*-*"):
        owner = stale.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(stale, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_FOLDER}-{os.getpid()}-"))


def _error_kind(name: str) -> ModelErrorKind:
    return name if name in _KINDS else "overloaded"  # type: ignore[return-value]
