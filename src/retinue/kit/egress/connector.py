"""Opens connections: resolves and checks the host, connects to a checked address, verifies the peer."""

import asyncio
import functools
import ipaddress
import socket
import ssl
from collections.abc import Callable
from typing import NamedTuple

from retinue.kit.egress.connection import EgressConnection
from retinue.kit.egress.destination import Destination
from retinue.kit.egress.errors import EgressFailed, EgressRefused
from retinue.kit.egress.happy_eyeballs import connect_socket, connect_to_first
from retinue.kit.egress.hosts import EgressHost
from retinue.kit.egress.policy import AllowList
from retinue.kit.egress.proxy import Proxies, Proxy, TunnelRefused
from retinue.kit.egress.resolver import PinnedAddress, Resolver, pin_host, resolve_host

_MAX_ADDRESSES_TRIED = 3
# Through a proxy an attempt takes longer, because the proxy connects in its turn.
_TUNNEL_DELAY_SECONDS = 1.0


class PinnedProxy(NamedTuple):
    """A proxy with its addresses."""

    proxy: Proxy
    addresses: tuple[str, ...]


class EgressRoute(NamedTuple):
    """A destination with the checked addresses to try for it, and the proxy on the way.

    If the proxy resolves names, `addresses` is the name itself.
    """

    destination: Destination
    addresses: tuple[str, ...]
    proxy: PinnedProxy | None = None


class EgressConnector:
    def __init__(
        self, allow: AllowList, resolver: Resolver, tls: Callable[[], ssl.SSLContext], proxies: Proxies
    ) -> None:
        self._allow = allow
        self.resolver = resolver
        self._proxies = proxies
        # Reading the certificates takes many milliseconds, and not every process calls https.
        self._tls = functools.cache(tls)

    async def pin(self, host: EgressHost, port: int, timeout_s: float) -> PinnedAddress:
        return await pin_host(host, port, allow=self._allow, resolver=self.resolver, timeout_s=timeout_s)

    async def find_route(self, destination: Destination, connect_by: float) -> EgressRoute:
        """Resolve and check the host, at most until a time on the event loop's clock."""
        loop = asyncio.get_running_loop()
        proxy = self._proxies.find(destination)
        host = destination.parsed_host
        if proxy is not None and self._proxies.resolve_names and host.address is None:
            # The name itself was checked when the URL was parsed.
            addresses: tuple[str, ...] = (destination.host,)
        else:
            pinned = await self.pin(host, destination.port, connect_by - loop.time())
            addresses = pinned.addresses[:_MAX_ADDRESSES_TRIED]
        if proxy is None:
            return EgressRoute(destination, addresses)
        own = await resolve_host(proxy.host, self.resolver, timeout_s=connect_by - loop.time())
        return EgressRoute(destination, addresses, PinnedProxy(proxy, own[:_MAX_ADDRESSES_TRIED]))

    async def connect(self, route: EgressRoute) -> EgressConnection:
        """Connect to one of the checked addresses and, for https, verify the server's certificate."""
        try:
            context = self._tls() if route.destination.scheme == "https" else None
            connected = await _connect(route)
        except TunnelRefused:
            raise EgressFailed("The proxy did not open a connection to the destination.") from None
        except OSError:
            raise EgressFailed("The destination could not be reached.") from None
        return await _open_connection(connected, context, route.destination.host)

    def forget(self, route: EgressRoute) -> None:
        """Drop the look-up that led to a failed connection."""
        self.resolver.forget(route.destination.host)
        if route.proxy is not None:
            self.resolver.forget(route.proxy.proxy.host.text)


async def _connect(route: EgressRoute) -> socket.socket:
    """Return a connection to a checked address, directly or through a tunnel."""
    port, proxy = route.destination.port, route.proxy
    if proxy is None:
        return await connect_to_first(route.addresses, lambda address: _connect_verified(address, port))
    return await connect_to_first(
        route.addresses, lambda address: _open_tunnel(proxy, address, port), _TUNNEL_DELAY_SECONDS
    )


async def _connect_verified(address: str, port: int) -> socket.socket:
    """Connect, and refuse a peer with another address; the forms of an IPv6 address may differ."""
    connected = await connect_socket(address, port)
    try:
        peer_address, peer_port = connected.getpeername()[:2]
    except OSError:
        connected.close()
        raise
    if peer_port != port or ipaddress.ip_address(peer_address) != ipaddress.ip_address(address):
        connected.close()
        raise EgressRefused("address", "The connection reached a different address than the checked one.")
    return connected


async def _open_tunnel(pinned: PinnedProxy, address: str, port: int) -> socket.socket:
    """Connect through a proxy, which is told the checked address and resolves nothing."""
    proxy = pinned.proxy
    connected = await connect_to_first(
        pinned.addresses, lambda own_address: _connect_verified(own_address, proxy.port)
    )
    try:
        host = f"[{address}]" if ":" in address else address
        await proxy.open_tunnel(connected, f"{host}:{port}")
    except BaseException:
        connected.close()
        raise
    return connected


async def _open_connection(
    connected: socket.socket, context: ssl.SSLContext | None, server_name: str
) -> EgressConnection:
    try:
        _, connection = await asyncio.get_running_loop().create_connection(
            EgressConnection,
            sock=connected,
            ssl=context,
            server_hostname=None if context is None else server_name,
        )
    except ssl.SSLCertVerificationError:
        raise EgressFailed("The destination's certificate is not valid for this host.") from None
    except ssl.SSLError:
        raise EgressFailed("A secure connection to the destination could not be established.") from None
    except OSError:
        raise EgressFailed("The destination could not be reached.") from None
    return connection
