"""Connections to pinned addresses only."""

import asyncio
import socket

from retinue.adapters.logins.errors import LoginNotConfigured, LoginUnreachable
from retinue.kit.egress import Egress, PinnedAddress

CONNECT_TIMEOUT_SECONDS = 5.0
MAX_ADDRESSES_TRIED = 3


async def pin(egress: Egress, host: str, port: int) -> PinnedAddress:
    if not host or not 0 < port < 65536:
        raise LoginNotConfigured("The login requires a host and a port from 1 to 65535.")
    return await egress.pin(host, port)


async def open_socket(pinned: PinnedAddress) -> socket.socket:
    """Return a connected socket; the first few checked addresses are tried in turn."""
    for address in pinned.addresses[:MAX_ADDRESSES_TRIED]:
        connected = await _connect(address, pinned.port)
        if connected is not None:
            return connected
    raise LoginUnreachable


async def _connect(address: str, port: int) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    attempt = socket.socket(family, socket.SOCK_STREAM)
    attempt.setblocking(False)
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            await asyncio.get_running_loop().sock_connect(attempt, (address, port))
    except OSError:
        attempt.close()
        return None
    except BaseException:
        attempt.close()
        raise
    return attempt
