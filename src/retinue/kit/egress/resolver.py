"""Names become addresses once per call, and every address of a name is judged before one is used."""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from retinue.kit.egress.errors import EgressFailed, EgressRefused, EgressTimeout
from retinue.kit.egress.hosts import Address, Host
from retinue.kit.egress.policy import AllowList

_REFUSED = "The host leads to an address outgoing calls may not reach."


class Resolver(Protocol):
    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address of a name, best first; an OSError when there is none."""
        ...


class SystemResolver:
    """The operating system's resolver, asked anew each time."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class PinnedAddress(NamedTuple):
    """A host with the addresses it may be reached at; a driver connects to one of them, never to the name."""

    host: str
    port: int
    addresses: tuple[str, ...]

    @property
    def address(self) -> str:
        return self.addresses[0]


async def pin_host(
    host: Host, port: int, *, allow: AllowList, resolver: Resolver, timeout_s: float
) -> PinnedAddress:
    """Resolve once and refuse the host altogether when any of its addresses is refused."""
    if not allow.permits_host(host, port):
        raise EgressRefused("address", "Outgoing calls may not go to this host.")
    if host.address is not None:
        if not allow.permits_address(host, host.address, port):
            raise EgressRefused("address", _REFUSED)
        return PinnedAddress(host.text, port, (host.text,))
    addresses = await _resolve(host, port, resolver, timeout_s)
    if not all(allow.permits_address(host, address, port) for address in addresses):
        raise EgressRefused("address", _REFUSED)
    return PinnedAddress(host.text, port, tuple(str(address) for address in _alternating(addresses)))


async def _resolve(host: Host, port: int, resolver: Resolver, timeout_s: float) -> list[Address]:
    try:
        async with asyncio.timeout(timeout_s):
            found = await resolver.resolve(host.text, port)
    except TimeoutError:
        raise EgressTimeout("The host's name could not be resolved in time.") from None
    except OSError:
        raise EgressFailed("The host's name could not be resolved.") from None
    if not found:
        raise EgressFailed("The host's name could not be resolved.")
    return [ipaddress.ip_address(text) for text in found]


def _alternating(addresses: list[Address]) -> list[Address]:
    """The same addresses with the second attempt in the other family, for hosts with one family broken."""
    first = addresses[0]
    if len(addresses) == 1:
        return addresses
    other = [address for address in addresses if address.version != first.version][:1]
    return [first, *other, *(address for address in addresses[1:] if address not in other)]
