"""The server's end: large texts are parsed in a child process, limited in time, memory and output."""

import asyncio
import signal
from typing import Any

import msgspec
import structlog

from retinue.adapters.openapi.description import InvalidDocument
from retinue.adapters.openapi.document_text import (
    MAX_INLINE_YAML_BYTES,
    check_size,
    check_yaml,
    is_json,
    parse_text,
)
from retinue.adapters.openapi.excerpt import DocumentExcerpt, make_excerpt
from retinue.adapters.sandbox.reader_places import reader_place
from retinue.adapters.sandbox.readers import reader_command
from retinue.kit import subprocesses
from retinue.kit.errors import RetinueError
from retinue.kit.fair_queue import QueuedCaller

log = structlog.get_logger("openapi")

# The child's exit codes, as in `child.program`.
REFUSED, TOO_LARGE, NOT_CONFINED = 3, 4, 5

# Four times the child's CPU time, to allow for a busy machine.
WALL_SECONDS = 120.0
MAX_JSON_BYTES = 25 * 1024 * 1024

# Larger documents are read by a child, so that nobody else waits while their text is decoded.
_MAX_INLINE_DOCUMENT_BYTES = 512 * 1024
_PROGRAM = "retinue.adapters.openapi.child.program"
_EXCERPT_PROGRAM = "retinue.adapters.openapi.child.excerpt_program"
_MAX_REASON_LENGTH = 500
_TOO_LARGE = "takes too much time or memory to read; send less of it, and JSON instead of YAML"


class DocumentReaderUnavailable(RetinueError):
    """Large documents cannot be read safely on this machine. Ask the operator to check the sandbox."""

    status, code = 503, "sandbox_unavailable"


async def read_text(content: bytes, requester: QueuedCaller, *, max_length: int | None = None) -> Any:
    """Parse JSON or YAML text; raise `InvalidDocument` for text that is not valid or too large.

    `max_length` bounds YAML with its aliases written out, for readers that expand them.
    """
    if is_json(content) or len(content) <= MAX_INLINE_YAML_BYTES:
        # In a thread, because this takes up to a second of CPU time.
        return await asyncio.to_thread(parse_text, content, max_length)
    check_yaml(content)
    output = await _read_in_child(_PROGRAM, content, requester)
    try:
        return await asyncio.to_thread(msgspec.json.decode, output)
    except (msgspec.DecodeError, RecursionError):
        raise InvalidDocument("is nested too deeply") from None


async def read_excerpt(
    content: bytes, operation_names: list[str] | None, requester: QueuedCaller
) -> DocumentExcerpt:
    """Return what these operations need of a document in JSON or YAML; raise `InvalidDocument`."""
    if len(content) <= _MAX_INLINE_DOCUMENT_BYTES:
        return await asyncio.to_thread(_excerpt_of, content, operation_names)
    check_size(content)
    request = b"%s\n%s" % (msgspec.json.encode(operation_names), content)
    output = await _read_in_child(_EXCERPT_PROGRAM, request, requester)
    try:
        return await asyncio.to_thread(msgspec.json.decode, output, type=DocumentExcerpt)
    except (msgspec.DecodeError, RecursionError):
        raise InvalidDocument("is nested too deeply") from None


def _excerpt_of(content: bytes, operation_names: list[str] | None) -> DocumentExcerpt:
    try:
        return make_excerpt(parse_text(content), operation_names)
    except RecursionError:
        raise InvalidDocument("is nested too deeply") from None


async def _read_in_child(program: str, content: bytes, requester: QueuedCaller) -> bytes:
    """Return what the child makes of the text; raise `InvalidDocument` for its refusals."""
    async with reader_place(requester):
        code, output = await _run_child(program, content)
    if code == 0:
        return output
    if code == REFUSED:
        raise InvalidDocument(output.decode(errors="replace")[:_MAX_REASON_LENGTH])
    if code == NOT_CONFINED:
        raise DocumentReaderUnavailable
    if code == TOO_LARGE or code in {-signal.SIGXCPU, -signal.SIGKILL}:
        raise InvalidDocument(_TOO_LARGE)
    log.error("document_reader_failed", code=code)
    raise InvalidDocument("could not be parsed")


def _libraries() -> str:
    return subprocesses.library_path("yaml", "msgspec")


async def _run_child(program: str, content: bytes) -> tuple[int, bytes]:
    """Return the child's exit code (negative: the signal that ended it) and its output."""
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            subprocesses.python_subprocess(*reader_command(program, _libraries())) as parser,
        ):
            output = await subprocesses.communicate(parser, content, MAX_JSON_BYTES)
    except (TimeoutError, subprocesses.OutputTooLarge):
        return -signal.SIGKILL, b""
    except (BrokenPipeError, ConnectionResetError):
        return 1, b""
    return output.code, output.content
