"""Pins a host: every address of its name is checked before one is used, also if the look-up was cached."""

import asyncio
import ipaddress
import itertools
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from retinue.kit.egress.errors import EgressFailed, EgressRefused, EgressTimeout
from retinue.kit.egress.hosts import Address, EgressHost
from retinue.kit.egress.policy import AllowList

_REFUSED = "The host leads to an address that is not allowed for outgoing calls."


class Resolver(Protocol):
    """Looks names up; what it returns is checked each time it is used."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Return every address of a name, best first; nothing, or an `OSError`, if there is none."""
        ...

    def forget(self, host: str) -> None:
        """Drop a cached look-up, because a connection to its addresses failed."""


class PinnedAddress(NamedTuple):
    """A host with its checked addresses; a driver connects to one of them, never to the name."""

    host: str
    port: int
    addresses: tuple[str, ...]

    @property
    def address(self) -> str:
        return self.addresses[0]


async def pin_host(
    host: EgressHost, port: int, *, allow: AllowList, resolver: Resolver, timeout_s: float
) -> PinnedAddress:
    """Resolve; refuse the host if any of its addresses is not allowed."""
    if not allow.permits_host(host, port):
        raise EgressRefused("address", "The host is not allowed for outgoing calls.")
    if host.address is not None:
        if not allow.permits_address(host, host.address, port):
            raise EgressRefused("address", _REFUSED)
        return PinnedAddress(host.text, port, (host.text,))
    addresses = await _resolve(host, resolver, timeout_s)
    if not all(allow.permits_address(host, address, port) for address in addresses):
        raise EgressRefused("address", _REFUSED)
    return PinnedAddress(host.text, port, _alternating(addresses))


async def resolve_host(host: EgressHost, resolver: Resolver, timeout_s: float) -> tuple[str, ...]:
    """Return the addresses of a host that the operator chose, which may be private."""
    if host.address is not None:
        return (host.text,)
    return _alternating(await _resolve(host, resolver, timeout_s))


async def _resolve(host: EgressHost, resolver: Resolver, timeout_s: float) -> list[Address]:
    try:
        async with asyncio.timeout(timeout_s):
            addresses = await resolver.resolve(host.text)
    except TimeoutError:
        raise EgressTimeout("The host name could not be resolved in time.") from None
    except OSError:
        raise EgressFailed("The host name could not be resolved. Check its spelling.") from None
    if not addresses:
        raise EgressFailed("The host name could not be resolved. Check its spelling.")
    return [ipaddress.ip_address(address) for address in addresses]


def _alternating(addresses: list[Address]) -> tuple[str, ...]:
    """Let the families take turns, for machines on which one of them is broken (RFC 8305)."""
    first = [address for address in addresses if address.version == addresses[0].version]
    second = [address for address in addresses if address.version != addresses[0].version]
    pairs = itertools.zip_longest(first, second)
    return tuple(str(address) for pair in pairs for address in pair if address is not None)
