"""The server's end: one child process for each file, which tells its rows in frames of bounded size."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import structlog

from retinue.adapters.sheets.errors import (
    SheetError,
    SheetReaderUnavailable,
    SheetTooLarge,
    UnreadableSheet,
    refusal,
)
from retinue.kit import children

log = structlog.get_logger("sheets")

FORMATS = ("csv", "json", "xlsx")
LARGEST_FRAME = 16 * 1024 * 1024
# For a child that says nothing, not for a reader that takes its time over what it was told.
SILENCE_S = 120.0

_START = Path(__file__).parent / "child" / "start.py"
_SOURCE = Path(__file__).parents[3]
# An error before the child answers any: the interpreter is not what it should be, for example.
_NOT_STARTED = 1
_BROKEN = "The file could not be read: it is damaged, or needs more memory than allowed."

Cells = list[Any] | dict[str, Any]
"""The cells of a row in the order of the header, or by their names where the file has no header."""


class _Frame(msgspec.Struct):
    """What the child says: the header, some rows, or how it ended."""

    header: list[Any] | None = None
    rows: list[Cells] | None = None
    is_end: bool = False
    error: str = ""
    message: str = ""
    fault: str = ""


class SheetRows(msgspec.Struct, frozen=True):
    """Some rows of the file, and the header they are under; none in JSON, whose rows name their cells."""

    header: list[str] | None
    rows: list[Cells]


async def read(path: Path, format: str, *, skip: int = 0) -> AsyncIterator[SheetRows]:
    """The rows of a file but the first `skip`, some at a time, or a SheetError."""
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        async with children.child(
            *("-S", str(_START), str(_SOURCE), str(os.getpid()), format, str(skip)), stdin=source
        ) as reader:
            async for some in _told(reader):
                yield some
    finally:
        os.close(source)


async def _told(child: Process) -> AsyncIterator[SheetRows]:
    assert child.stdout
    decode = msgspec.json.Decoder(_Frame).decode
    header: list[str] | None = None
    while True:
        frame = await _frame(child, decode)
        if frame.error:
            raise _refused(frame)
        if frame.is_end:
            return
        if frame.header is not None:
            header = [str(name) for name in frame.header]
            yield SheetRows(header, [])
        if frame.rows:
            yield SheetRows(header, frame.rows)


async def _frame(child: Process, decode: Any) -> _Frame:
    assert child.stdout
    try:
        async with asyncio.timeout(SILENCE_S):
            size = int.from_bytes(await child.stdout.readexactly(4), "big")
            if size > LARGEST_FRAME:
                raise UnreadableSheet(_BROKEN)
            content = await child.stdout.readexactly(size)
    except TimeoutError:
        raise SheetTooLarge("The file takes longer to read than allowed.") from None
    except asyncio.IncompleteReadError:
        raise _ended(await child.wait()) from None
    try:
        frame: _Frame = decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise UnreadableSheet(_BROKEN) from None
    return frame


def _refused(frame: _Frame) -> SheetError:
    if frame.fault:
        log.error("a reader of files failed", fault=frame.fault)
    return refusal(frame.error, frame.message)


def _ended(code: int) -> SheetError:
    if code == _NOT_STARTED:
        log.error("the process that reads files does not start")
        return SheetReaderUnavailable("The process that reads files does not start on this machine.")
    if code == -signal.SIGXCPU:
        return SheetTooLarge("The file takes longer to read than allowed.")
    return UnreadableSheet(_BROKEN)
