"""The child's program: lock down, parse YAML from stdin and write it as JSON to stdout."""

import json
import os
import sys
from collections.abc import Callable

from retinue.adapters.openapi.description import InvalidDocument
from retinue.adapters.openapi.yaml_text import load, parse_yaml
from retinue.adapters.sandbox.guest import lockdown

# The child's exit codes; any other nonzero code is a bug.
REFUSED, TOO_LARGE, NOT_CONFINED = 3, 4, 5

MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 30
MAX_EVENTS = 1_500_000
MAX_JSON_BYTES = 24 * 1024 * 1024

_BLOCK_BYTES = 1 << 20


class TooLarge(Exception):
    """The converted document is larger than the parent reads."""


def main(parent: str) -> None:
    run(parent, _to_json)


def run(parent: str, convert: Callable[[bytes], bytes]) -> None:
    """Lock this process down, convert stdin to stdout; the exit code says the rest."""
    load()
    if not _confine(parent):
        sys.exit(NOT_CONFINED)
    try:
        written = convert(_read_input())
    except InvalidDocument as refusal:
        sys.stdout.write(refusal.reason)
        sys.exit(REFUSED)
    except RecursionError:
        sys.stdout.write("is nested too deeply")
        sys.exit(REFUSED)
    except (MemoryError, TooLarge):
        sys.exit(TOO_LARGE)
    sys.stdout.buffer.write(written)


def _confine(parent: str) -> bool:
    """Lock this process down; return False if the kernel cannot."""
    lockdown.yield_to_server()
    try:
        lockdown.lock_down(int(parent), memory_bytes=MEMORY_BYTES, cpu_seconds=CPU_SECONDS)
    except OSError:
        return False
    return True


def _read_input() -> bytes:
    content = bytearray()
    while block := os.read(0, _BLOCK_BYTES):
        content += block
    return bytes(content)


def _to_json(content: bytes) -> bytes:
    """Return the document as JSON, in which every alias is written out."""
    parsed = parse_yaml(content.decode(), max_events=MAX_EVENTS, max_length=MAX_JSON_BYTES)
    written = json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    if len(written) > MAX_JSON_BYTES:
        raise TooLarge
    return written
