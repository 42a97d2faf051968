"""The listening sockets of all slots: the supervisor keeps them, so no connection is lost with a worker."""

import socket
import sys

from retinue.kit.http.listening_sockets import bind

Listeners = list[socket.socket]


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


def close_listeners(opened: list[Listeners]) -> None:
    for listeners in opened:
        for listener in listeners:
            listener.close()
