"""A guest program's end of the control socket: receives calls with descriptors, sends reports."""

import contextlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_MAX_MESSAGE_BYTES = 64 * 1024
_MAX_DESCRIPTORS = 8

Prepared = TypeVar("Prepared")


class Control:
    def __init__(self) -> None:
        """Use stdin as the control socket and close every other inherited descriptor."""
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # Let the server come first when CPU or memory is scarce; child processes inherit this.
        os.setpriority(os.PRIO_PROCESS, 0, 5)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500")
        self._line = socket.socket(fileno=os.dup(0))
        null_device = os.open(os.devnull, os.O_RDWR)
        for place in (0, 1, 2):
            os.dup2(null_device, place)
        os.close(null_device)

    def fileno(self) -> int:
        return self._line.fileno()

    def prepare_and_report(self, prepare: Callable[[], Prepared]) -> Prepared | None:
        """Return the result of `prepare`, or None if it failed; report either to the server."""
        try:
            prepared = prepare()
        except (OSError, ImportError, RuntimeError) as error:
            self.report({"failed": f"{type(error).__name__}: {error}"})
            return None
        self.report({"ready": True})
        return prepared

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """Return the next message, or None if the server is gone."""
        text, descriptors, _, _ = socket.recv_fds(self._line, _MAX_MESSAGE_BYTES, _MAX_DESCRIPTORS)
        return (json.loads(text), descriptors) if text else None

    def report(self, message: dict[str, Any]) -> None:
        self._line.send(json.dumps(message).encode())
