"""The server's end: one child process per file, which sends the rows in frames of bounded size."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import structlog

from retinue.adapters.sandbox.readers import reader_command
from retinue.adapters.sheets.errors import (
    SheetError,
    SheetFormatNotInstalled,
    SheetReaderUnavailable,
    SheetTooLarge,
    UnreadableSheet,
    sheet_error,
)
from retinue.kit import subprocesses
from retinue.kit.extras import require_extra
from retinue.kit.json_types import JsonObject

log = structlog.get_logger("sheets")

FORMATS = ("csv", "json", "xlsx")
MAX_FRAME_BYTES = 16 * 1024 * 1024
# Limits a child's silence, not the time the consumer spends on the rows.
MAX_SILENCE_SECONDS = 120.0

_PROGRAM = "retinue.adapters.sheets.child.program"
# The child failed before its first frame, for example because of a broken interpreter.
_EXIT_NOT_STARTED = 1
_BROKEN = "The file could not be read: it is damaged or needs too much memory."

Cells = list[Any] | JsonObject
"""The cells of a row in the order of the header, or by name if the file has no header."""


class _Frame(msgspec.Struct):
    """A frame from the child: the header, some rows, the end, or an error."""

    header: list[Any] | None = None
    rows: list[Cells] | None = None
    lines: list[int | None] | None = None
    is_end: bool = False
    error: str = ""
    message: str = ""
    fault: str = ""


class SheetRows(msgspec.Struct, frozen=True):
    """Some rows and their header, which is None for JSON, where rows name their cells.

    `lines` says where each row begins in the file, None where that is not known.
    """

    header: list[str] | None
    rows: list[Cells]
    lines: list[int | None] = []


def require_format(format: str) -> None:
    """Raise SheetFormatNotInstalled if the packages that read a format are not installed."""
    if format == "xlsx":
        require_extra("documents", SheetFormatNotInstalled)


async def read(path: Path, format: str, *, skip: int = 0) -> AsyncIterator[SheetRows]:
    """Yield the rows after the first `skip`, in batches; raises SheetError."""
    require_format(format)
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        async with subprocesses.python_subprocess(
            *reader_command(_PROGRAM, _libraries(), format, str(skip)), stdin=source
        ) as reader:
            async for batch in _read_rows(reader):
                yield batch
    finally:
        os.close(source)


def _libraries() -> str:
    return subprocesses.library_path("python_calamine")


async def _read_rows(child: Process) -> AsyncIterator[SheetRows]:
    assert child.stdout
    decode = msgspec.json.Decoder(_Frame).decode
    header: list[str] | None = None
    while True:
        frame = await _read_frame(child, decode)
        if frame.error:
            raise _error_from(frame)
        if frame.is_end:
            return
        if frame.header is not None:
            header = [str(name) for name in frame.header]
            yield SheetRows(header, [])
        if frame.rows:
            yield SheetRows(header, frame.rows, frame.lines or [None] * len(frame.rows))


async def _read_frame(child: Process, decode: Any) -> _Frame:
    assert child.stdout
    try:
        async with asyncio.timeout(MAX_SILENCE_SECONDS):
            size = int.from_bytes(await child.stdout.readexactly(4), "big")
            if size > MAX_FRAME_BYTES:
                raise UnreadableSheet(_BROKEN)
            content = await child.stdout.readexactly(size)
    except TimeoutError:
        raise SheetTooLarge("The file takes too long to read.") from None
    except asyncio.IncompleteReadError:
        raise _exit_error(await child.wait()) from None
    try:
        frame: _Frame = decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise UnreadableSheet(_BROKEN) from None
    return frame


def _error_from(frame: _Frame) -> SheetError:
    if frame.fault:
        log.error("sheet_reader_failed", fault=frame.fault)
    return sheet_error(frame.error, frame.message)


def _exit_error(code: int) -> SheetError:
    if code == _EXIT_NOT_STARTED:
        log.error("sheet_reader_not_started")
        return SheetReaderUnavailable("The file reader does not start on this machine.")
    if code == -signal.SIGXCPU:
        return SheetTooLarge("The file takes too long to read.")
    return UnreadableSheet(_BROKEN)
