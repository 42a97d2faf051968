"""One call as its process sees it: a request to read, a result to write, the log as output and errors."""

import json
import os
from typing import Any

from . import confine, escape

REQUEST, RESULT = 3, 4
# Every file of a sandbox, its log and its result included.
LARGEST_FILE = 16 * 1024 * 1024


def settle(descriptors: list[int]) -> None:
    """Keep nothing but the three descriptors of this call."""
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


def probe(asked: dict[str, Any]) -> str:
    """What the confined process itself, without any guest around its code, can still reach."""
    return json.dumps({"output": escape.successes(**asked)})
