"""A process for one question: started with nothing, read within bounds, and never left behind."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

import msgspec

_PIECE = 64 * 1024


class Heard(msgspec.Struct, frozen=True):
    """What a child wrote, and its exit code (negative: the signal that ended it)."""

    code: int
    content: bytes


class TooMuch(Exception):
    """The child wrote more than it may."""


@contextlib.asynccontextmanager
async def child(
    *arguments: str, stdin: int = asyncio.subprocess.PIPE
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Our own Python with an empty environment; killed when the block is left, whatever it was doing."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", *arguments),
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
        cwd="/",
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # Also for a child that has ended: what it left in the pipe keeps the pipe open.
        await process.communicate()


async def ask(process: asyncio.subprocess.Process, question: bytes | None, largest: int) -> Heard:
    """What the child answers to all that it is told; `TooMuch` beyond so many bytes."""
    assert process.stdout
    if question is not None:
        assert process.stdin
        process.stdin.write(question)
        process.stdin.close()
    content = bytearray()
    while piece := await process.stdout.read(_PIECE):
        content += piece
        if len(content) > largest:
            raise TooMuch
    return Heard(await process.wait(), bytes(content))
