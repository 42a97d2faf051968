"""Connects to the first of several addresses that answers, so that a dead one costs little (RFC 8305)."""

import asyncio
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

ATTEMPT_DELAY_SECONDS = 0.25

# A peer that vanished without a word is noticed after two minutes, and a NAT on the way keeps the connection.
_SOCKET_OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 45),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 15),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 5),
)

ConnectTo = Callable[[str], Awaitable[socket.socket]]


async def connect_socket(address: str, port: int) -> socket.socket:
    """Return a connected socket; raise `OSError` if the address takes no connection."""
    connected = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connected.setblocking(False)
        for level, option, value in _SOCKET_OPTIONS:
            connected.setsockopt(level, option, value)
        await asyncio.get_running_loop().sock_connect(connected, (address, port))
    except BaseException:
        connected.close()
        raise
    return connected


async def connect_to_first(
    addresses: Iterable[str], connect: ConnectTo, delay_s: float = ATTEMPT_DELAY_SECONDS
) -> socket.socket:
    """Return the first connection of several attempts; raise the last attempt's `OSError` if all fail.

    The next address is tried when an attempt fails, or has not succeeded after `delay_s`.
    """
    untried = deque(addresses)
    if len(untried) == 1:
        return await connect(untried[0])
    attempts: list[asyncio.Future[socket.socket]] = []
    winner: asyncio.Future[socket.socket] | None = None
    try:
        while winner is None:
            if untried:
                attempts.append(asyncio.ensure_future(connect(untried.popleft())))
            pending = [attempt for attempt in attempts if not attempt.done()]
            if not pending:
                return await attempts[-1]
            timeout_s = delay_s if untried else None
            done, _ = await asyncio.wait(pending, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            winner = next((attempt for attempt in done if attempt.exception() is None), None)
        return winner.result()
    finally:
        for attempt in attempts:
            if attempt is not winner:
                attempt.cancel()
                attempt.add_done_callback(_close_connection)


def _close_connection(attempt: asyncio.Future[socket.socket]) -> None:
    """Close the connection of an attempt that came second."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
