"""A call as its process sees it: reads a request, writes a result, and logs to stdout and stderr."""

import json
import os
from typing import Any

from . import confine, escape

REQUEST, RESULT = 3, 4
# Applies to every file of a sandbox, including its log and its result.
MAX_FILE_BYTES = 16 * 1024 * 1024


def keep_call_descriptors(descriptors: list[int]) -> None:
    """Close all descriptors except the three of this call."""
    request, result, log = descriptors
    confine.arrange([0, log, log, request, result], [0, 1, 2, REQUEST, RESULT])


def request(descriptor: int = REQUEST) -> dict[str, Any]:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    decoded: dict[str, Any] = json.loads(os.pread(descriptor, size, 0))
    return decoded


def reply(text: str, descriptor: int = RESULT) -> None:
    rest = text.encode(errors="replace")
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def probe(attempts: dict[str, Any]) -> str:
    """Return what the confined process itself can reach, without a guest around its code."""
    return json.dumps({"output": escape.successes(**attempts)})
