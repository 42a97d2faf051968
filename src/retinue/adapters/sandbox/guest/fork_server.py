"""A process that starts one child per call and reports to the server how it ended."""

import contextlib
import os
import selectors
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .control import Control

_WATCH_INTERVAL_SECONDS = 0.05

StartChild = Callable[[dict[str, Any], list[int]], int]
"""Starts the child of a call, given its message and descriptors, and returns its process id."""
WatchChild = Callable[[int, dict[str, Any]], str]
"""Checks a running child and returns a reason to kill it, or ""."""


class Child(NamedTuple):
    call: int
    pid: int
    pidfd: int
    message: dict[str, Any]


class ForkServer:
    def __init__(self, control: Control, start: StartChild, watch: WatchChild | None) -> None:
        self._control = control
        self._start = start
        self._watch = watch
        self._children: dict[int, Child] = {}
        self._reasons: dict[int, str] = {}
        self._events = selectors.DefaultSelector()
        self._events.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve calls until the server closes its end or is gone."""
        is_open = True
        while is_open:
            timeout = _WATCH_INTERVAL_SECONDS if self._watched() else None
            for key, _ in self._events.select(timeout):
                if key.fileobj is self._control:
                    is_open = self._handle_message()
                else:
                    self._reap(key.data)
            self._check_children()
        for child in self._children.values():
            self._kill(child, "")

    def _handle_message(self) -> bool:
        received = self._control.receive()
        if received is None:
            return False
        message, descriptors = received
        if "kill" in message:
            child = self._children.get(message["kill"])
            if child:
                self._kill(child, "")
        else:
            self._start_child(message, descriptors)
        return True

    def _start_child(self, message: dict[str, Any], descriptors: list[int]) -> None:
        call = message["start"]
        try:
            pid = self._start(message, descriptors)
        except OSError as error:
            self._control.report({"done": call, "status": -1, "reason": f"cannot start: {error.strerror}"})
            return
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        child = Child(call, pid, os.pidfd_open(pid), message)
        self._children[call] = child
        self._events.register(child.pidfd, selectors.EVENT_READ, child)

    def _reap(self, child: Child) -> None:
        _, status, usage = os.wait4(child.pid, 0)
        self._events.unregister(child.pidfd)
        os.close(child.pidfd)
        del self._children[child.call]
        self._control.report(
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

    def _check_children(self) -> None:
        for child in self._watched():
            assert self._watch
            reason = self._watch(child.pid, child.message)
            if reason:
                self._kill(child, reason)

    def _kill(self, child: Child, reason: str) -> None:
        self._reasons.setdefault(child.call, reason)
        with contextlib.suppress(ProcessLookupError):
            # Stop it first: bubblewrap killed while building a sandbox would leave its own child behind.
            signal.pidfd_send_signal(child.pidfd, signal.SIGSTOP)
            for pid in child_pids(child.pid):
                os.kill(pid, signal.SIGKILL)
            signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)


def child_pids(pid: int) -> list[int]:
    """Return the children of a process, as far as they are visible from here."""
    try:
        lists = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return [int(child) for child in " ".join(lists).split()]


def fork_child(body: Callable[[], None]) -> int:
    """Fork a child that runs `body` and exits; return its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        body()
        code = 0
    finally:
        # Not even an exception may return into the parent's loop.
        os._exit(code)


def run(prepare: Callable[[], StartChild], watch: WatchChild | None = None) -> None:
    control = Control()
    start = control.prepare_and_report(prepare)
    if start:
        ForkServer(control, start, watch).serve()
