"""Sockets to listen on; apart from the server, because a supervisor opens them without it."""

import errno
import socket
from typing import Any

# Limits on unsent data in the kernel and on a silent peer; otherwise the kernel would buffer megabytes for a
# peer that does not read.
_KERNEL_UNSENT_BYTES = 64 * 1024
_KERNEL_TIMEOUT_MS = 30_000


def bind(host: str, port: int, *, is_shared: bool = False) -> list[socket.socket]:
    """Return a socket for each address of the host, all on one port, not yet listening.

    Of sockets that are bound with `is_shared`, several listen on one address, and the kernel spreads the
    connections among them.
    """
    sockets: list[socket.socket] = []
    infos = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in dict.fromkeys(infos):
        chosen = sockets[0].getsockname()[1] if sockets else port
        try:
            place = (address[0], chosen, *address[2:])
            sockets.append(_bind_one(family, kind, protocol, place, is_shared=is_shared))
        except OSError as error:
            # A machine may resolve a name to ::1 and yet have no IPv6.
            if error.errno in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT} and (sockets or len(infos) > 1):
                continue
            for listener in sockets:
                listener.close()
            raise
    if not sockets:
        raise OSError(errno.EADDRNOTAVAIL, f"no address of {host} is available on this machine")
    return sockets


def _bind_one(
    family: int, kind: int, protocol: int, address: tuple[Any, ...], *, is_shared: bool
) -> socket.socket:
    """Bind a socket; accepted connections inherit its options."""
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for option, value in _kernel_limits():
            listener.setsockopt(socket.IPPROTO_TCP, option, value)
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def _kernel_limits() -> list[tuple[int, int]]:
    """Return the limits that this system has; macOS has no timeout for a silent peer."""
    wanted = {"TCP_NOTSENT_LOWAT": _KERNEL_UNSENT_BYTES, "TCP_USER_TIMEOUT": _KERNEL_TIMEOUT_MS}
    return [(getattr(socket, name), value) for name, value in wanted.items() if hasattr(socket, name)]
