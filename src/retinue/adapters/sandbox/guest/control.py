"""A guest program's end of the line to the server: calls with their descriptors come in, reports go out."""

import contextlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_LONGEST_MESSAGE = 64 * 1024
_MOST_DESCRIPTORS = 8

Prepared = TypeVar("Prepared")


class Control:
    def __init__(self) -> None:
        """The line is the standard input; nothing else that was inherited is kept."""
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # When processor or memory get scarce the server comes first, for all that is started from here.
        os.setpriority(os.PRIO_PROCESS, 0, 5)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500")
        self._line = socket.socket(fileno=os.dup(0))
        nothing = os.open(os.devnull, os.O_RDWR)
        for place in (0, 1, 2):
            os.dup2(nothing, place)
        os.close(nothing)

    def fileno(self) -> int:
        return self._line.fileno()

    def prepared(self, prepare: Callable[[], Prepared]) -> Prepared | None:
        """What was prepared, or None; the server is told either."""
        try:
            made = prepare()
        except (OSError, ImportError, RuntimeError) as error:
            self.say({"failed": f"{type(error).__name__}: {error}"})
            return None
        self.say({"ready": True})
        return made

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next message, None when the server has gone."""
        text, descriptors, _, _ = socket.recv_fds(self._line, _LONGEST_MESSAGE, _MOST_DESCRIPTORS)
        return (json.loads(text), descriptors) if text else None

    def say(self, message: dict[str, Any]) -> None:
        self._line.send(json.dumps(message).encode())
