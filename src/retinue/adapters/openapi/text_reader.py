"""The server's end: large YAML is parsed in a child process, limited in time, memory and output."""

import asyncio
import signal
from typing import Any

import msgspec
import structlog

from retinue.adapters.openapi.description import InvalidDocument
from retinue.adapters.openapi.document_text import MAX_INLINE_YAML_BYTES, check_yaml, is_json, parse_text
from retinue.adapters.sandbox.readers import reader_command
from retinue.kit import subprocesses
from retinue.kit.errors import RetinueError

log = structlog.get_logger("openapi")

# The child's exit codes, as in `child.program`.
REFUSED, TOO_LARGE, NOT_CONFINED = 3, 4, 5

# Four times the child's CPU time, to allow for a busy machine.
WALL_SECONDS = 60.0
MAX_JSON_BYTES = 25 * 1024 * 1024

_PROGRAM = "retinue.adapters.openapi.child.program"
_MAX_REASON_LENGTH = 500
_TOO_LARGE = "has too much YAML, or aliases that repeat too much; convert it to JSON"
# Each child may use 512 MB; further documents wait.
_child_slots = asyncio.Semaphore(2)


class YamlReaderUnavailable(RetinueError):
    """Large YAML cannot be read safely on this machine. Send the document as JSON."""

    status, code = 503, "sandbox_unavailable"


async def read_text(content: bytes, *, max_length: int | None = None) -> Any:
    """Parse JSON or YAML text; raise `InvalidDocument` for text that is not valid or too large.

    `max_length` bounds YAML with its aliases written out, for readers that expand them.
    """
    if is_json(content) or len(content) <= MAX_INLINE_YAML_BYTES:
        # In a thread, because this takes up to a second of CPU time.
        return await asyncio.to_thread(parse_text, content, max_length)
    check_yaml(content)
    async with _child_slots:
        code, output = await _run_child(content)
    if code == 0:
        try:
            return await asyncio.to_thread(msgspec.json.decode, output)
        except (msgspec.DecodeError, RecursionError):
            raise InvalidDocument("is nested too deeply") from None
    if code == REFUSED:
        raise InvalidDocument(output.decode(errors="replace")[:_MAX_REASON_LENGTH])
    if code == NOT_CONFINED:
        raise YamlReaderUnavailable
    if code == TOO_LARGE or code in {-signal.SIGXCPU, -signal.SIGKILL}:
        raise InvalidDocument(_TOO_LARGE)
    log.error("the process that reads YAML failed", code=code)
    raise InvalidDocument("could not be parsed as YAML")


def _libraries() -> str:
    return subprocesses.library_path("yaml", "msgspec")


async def _run_child(content: bytes) -> tuple[int, bytes]:
    """Return the child's exit code (negative: the signal that ended it) and its output."""
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            subprocesses.python_subprocess(*reader_command(_PROGRAM, _libraries())) as parser,
        ):
            output = await subprocesses.communicate(parser, content, MAX_JSON_BYTES)
    except (TimeoutError, subprocesses.OutputTooLarge):
        return -signal.SIGKILL, b""
    except (BrokenPipeError, ConnectionResetError):
        return 1, b""
    return output.code, output.content
