"""The listening sockets of all slots: the supervisor keeps them, so no connection is lost with a worker."""

import errno
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from retinue.cli.processes.run_file import has_dead_server
from retinue.kit.http.listening_sockets import bind

Listeners = list[socket.socket]
Bound = TypeVar("Bound")

_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.02


def has_balanced_ports() -> bool:
    """Return whether the kernel spreads connections over several sockets on one port.

    macOS has the option as well, but gives all connections to one of them.
    """
    return sys.platform == "linux" and hasattr(socket, "SO_REUSEPORT")


def open_listeners(host: str, port: int, count: int) -> list[Listeners]:
    """Return the sockets of each slot, bound to the same addresses; without balancing all share one set."""
    if not has_balanced_ports():
        return [bind(host, port)] * count
    # Bound without sharing first: with it, a second server on the same port would get half of the requests.
    probe = bind(host, port)
    chosen = probe[0].getsockname()[1]
    for listener in probe:
        listener.close()
    opened: list[Listeners] = []
    try:
        for _ in range(count):
            # One by one, so that those before a failure can be closed.
            opened += [bind(host, chosen, is_shared=True)]
    except OSError:
        close_listeners(opened)
        raise
    return opened


def stop_listening(opened: list[Listeners]) -> None:
    """End the listening for all processes that hold these sockets, so that the address can be bound again."""
    for listeners in opened:
        for listener in listeners:
            # It may have been ended or closed by another process of ours.
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def bind_patiently(bind_all: Callable[[], Bound], data_dir: Path) -> Bound:
    """Return what is bound; processes that a killed server of this folder left behind have a moment to go."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return bind_all()
        except OSError as error:
            is_taken = error.errno == errno.EADDRINUSE
            if not is_taken or time.monotonic() > until or not has_dead_server(data_dir):
                raise
        time.sleep(_PAUSE_SECONDS)


def close_listeners(opened: list[Listeners]) -> None:
    for listeners in opened:
        for listener in listeners:
            listener.close()
