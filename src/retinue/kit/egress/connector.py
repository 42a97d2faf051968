"""The aiohttp side of pinning; imported at the first call, because aiohttp takes a quarter second to load."""

import ipaddress
import socket
import ssl
from typing import NoReturn

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client import ClientTimeout
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from retinue.kit.egress.errors import EgressRefused

_MAX_LINE = 16 * 1024
_KEEP_ALIVE_S = 15.0


class _NoNames(AbstractResolver):
    """aiohttp is given addresses only; a name reaching it would be a mistake of ours."""

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> NoReturn:  # noqa: ARG002 - given by the base class
        raise OSError("only pinned addresses may be connected to")

    async def close(self) -> None:
        pass


class PinnedConnector(aiohttp.TCPConnector):
    """Hands out a connection, new or kept alive, only after looking at who is at its other end."""

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:  # noqa: ASYNC109 - aiohttp's signature
        connection = await super().connect(req, traces, timeout)
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport else None
        if peer is None:
            connection.close()
            raise aiohttp.ServerDisconnectedError
        if not _is_same(peer, req.host, req.port):
            connection.close()
            raise EgressRefused("address", "The connection led to another address than the one checked.")
        return connection


def _is_same(peer: tuple[str, int], host: str | None, port: int | None) -> bool:
    """The text decides where it is the same; the same IPv6 address can be written in several ways."""
    if peer[:2] == (host, port):
        return True
    return peer[1] == port and ipaddress.ip_address(peer[0]) == ipaddress.ip_address(host or "")


def open_session(ssl_context: ssl.SSLContext | None, max_connections: int) -> aiohttp.ClientSession:
    connector = PinnedConnector(
        resolver=_NoNames(),
        use_dns_cache=False,
        ssl=ssl_context or True,
        limit=max_connections,
        keepalive_timeout=_KEEP_ALIVE_S,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        requote_redirect_url=False,
        max_line_size=_MAX_LINE,
        max_field_size=_MAX_LINE,
    )
