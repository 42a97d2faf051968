"""Python subprocesses with an empty environment: short-lived with bounded output, or with a socket."""

import asyncio
import contextlib
import functools
import importlib.util
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

_CHUNK_BYTES = 64 * 1024


class ProcessOutput(msgspec.Struct, frozen=True):
    """The child's standard output and exit code (negative: the signal that ended it)."""

    code: int
    content: bytes


class OutputTooLarge(Exception):
    """The child wrote more output than allowed."""


@contextlib.asynccontextmanager
async def python_subprocess(
    *arguments: str, stdin: int = asyncio.subprocess.PIPE
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start this Python interpreter with an empty environment; kill it when the block is left."""
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
        # Needed for a child that has exited too: unread output keeps the pipe open.
        await process.communicate()


async def start_with_socket(
    kind: socket.SocketKind, *arguments: str, folder: str | Path = "/"
) -> tuple[asyncio.subprocess.Process, socket.socket]:
    """Start this Python interpreter with an empty environment; its only descriptor is a socket to the server.

    Returns the process and the server's end of the socket. The caller kills the process.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    with theirs:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-B", *arguments),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                cwd=folder,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
    return process, ours


async def communicate(
    process: asyncio.subprocess.Process, stdin_data: bytes | None, max_bytes: int
) -> ProcessOutput:
    """Write the input and return the output; raise `OutputTooLarge` if it exceeds `max_bytes`."""
    assert process.stdout
    if stdin_data is not None:
        assert process.stdin
        process.stdin.write(stdin_data)
        process.stdin.close()
    content = bytearray()
    while piece := await process.stdout.read(_CHUNK_BYTES):
        content += piece
        if len(content) > max_bytes:
            raise OutputTooLarge
    return ProcessOutput(await process.wait(), bytes(content))


@functools.cache
def library_path(*modules: str) -> str:
    """Return the folders in which these modules are installed, as the search path of an isolated child."""
    specs = [importlib.util.find_spec(name) for name in modules]
    return os.pathsep.join(
        sorted({str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin})
    )
