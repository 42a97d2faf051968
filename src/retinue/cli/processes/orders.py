"""Messages between supervisor and fork server: lines of JSON, one of them with a descriptor."""

import json
import os
import socket
from typing import Any

import msgspec

KILL_AFTER_GRACE_SECONDS = 8.0
"""A worker that has not ended this long after the grace period is killed."""

_LINE_BYTES = 64 * 1024


class WorkerOrder(msgspec.Struct, frozen=True):
    """Start a worker process for a slot; the descriptor of its link comes with it."""

    slot: int
    expected: int
    opened_at: str
    is_first: bool
    """Whether it is the first process at all, which prints where to go."""


class OrderChannel:
    """One end of the control socket; it blocks."""

    def __init__(self, endpoint: socket.socket) -> None:
        self.endpoint = endpoint
        self._rest = b""

    def send(self, message: dict[str, Any], descriptor: int | None = None) -> None:
        line = json.dumps(message).encode() + b"\n"
        if descriptor is None:
            self.endpoint.sendall(line)
        else:
            socket.send_fds(self.endpoint, [line], [descriptor])

    def receive(self) -> tuple[list[dict[str, Any]], list[int]] | None:
        """Return whole messages and the descriptors that came along; None once the other end is closed."""
        try:
            content, descriptors, _, _ = socket.recv_fds(self.endpoint, _LINE_BYTES, 4)
        except BlockingIOError:
            return [], []
        except OSError:
            return None
        if not content:
            return None
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        *lines, self._rest = (self._rest + content).split(b"\n")
        return [json.loads(line) for line in lines], list(descriptors)
