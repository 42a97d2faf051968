"""A process that starts one child for each call and tells the server how it ended."""

import contextlib
import os
import selectors
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .control import Control

_WATCH_EVERY_S = 0.05

Start = Callable[[dict[str, Any], list[int]], int]
"""Start the child of a call, given its message and descriptors, and return its process id."""
Watch = Callable[[int, dict[str, Any]], str]
"""Look at a running child; a reason to end it, or nothing."""


class Child(NamedTuple):
    call: int
    pid: int
    pidfd: int
    message: dict[str, Any]


class Nursery:
    def __init__(self, control: Control, start: Start, watch: Watch | None) -> None:
        self._control = control
        self._start = start
        self._watch = watch
        self._children: dict[int, Child] = {}
        self._reasons: dict[int, str] = {}
        self._events = selectors.DefaultSelector()
        self._events.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Until the server closes its end, or is gone."""
        is_open = True
        while is_open:
            patience = _WATCH_EVERY_S if self._watched() else None
            for key, _ in self._events.select(patience):
                if key.fileobj is self._control:
                    is_open = self._obey()
                else:
                    self._bury(key.data)
            self._look()
        for child in self._children.values():
            self._kill(child, "")

    def _obey(self) -> bool:
        received = self._control.receive()
        if received is None:
            return False
        message, descriptors = received
        if "kill" in message:
            child = self._children.get(message["kill"])
            if child:
                self._kill(child, "")
        else:
            self._begin(message, descriptors)
        return True

    def _begin(self, message: dict[str, Any], descriptors: list[int]) -> None:
        call = message["start"]
        try:
            pid = self._start(message, descriptors)
        except OSError as error:
            self._control.say({"done": call, "status": -1, "reason": f"cannot start: {error.strerror}"})
            return
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        child = Child(call, pid, os.pidfd_open(pid), message)
        self._children[call] = child
        self._events.register(child.pidfd, selectors.EVENT_READ, child)

    def _bury(self, child: Child) -> None:
        _, status, usage = os.wait4(child.pid, 0)
        self._events.unregister(child.pidfd)
        os.close(child.pidfd)
        del self._children[child.call]
        self._control.say(
            {
                "done": child.call,
                "status": status,
                "cpu_ms": round((usage.ru_utime + usage.ru_stime) * 1000, 3),
                "reason": self._reasons.pop(child.call, ""),
            }
        )

    def _watched(self) -> list[Child]:
        return (
            [child for child in self._children.values() if child.message["memory_mb"]] if self._watch else []
        )

    def _look(self) -> None:
        for child in self._watched():
            assert self._watch
            reason = self._watch(child.pid, child.message)
            if reason:
                self._kill(child, reason)

    def _kill(self, child: Child, reason: str) -> None:
        self._reasons.setdefault(child.call, reason)
        with contextlib.suppress(ProcessLookupError):
            # Stopped first: bubblewrap, killed while it builds a sandbox, would leave its own child behind.
            signal.pidfd_send_signal(child.pidfd, signal.SIGSTOP)
            for below in children(child.pid):
                os.kill(below, signal.SIGKILL)
            signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The processes that a process has started, as far as they can be seen from here."""
    try:
        lists = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return [int(child) for child in " ".join(lists).split()]


def forked(body: Callable[[], None]) -> int:
    """The process id of a child that runs the body and is gone."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        body()
        code = 0
    finally:
        # Nothing may return into the parent's loop, not even an error.
        os._exit(code)


def run(prepare: Callable[[], Start], watch: Watch | None = None) -> None:
    control = Control()
    start = control.prepared(prepare)
    if start:
        Nursery(control, start, watch).serve()
