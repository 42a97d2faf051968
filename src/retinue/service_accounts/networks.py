"""Networks that a service account may be used from."""

import ipaddress
from functools import lru_cache

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.network_addresses import unmap_ipv4

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_networks(entries: list[str]) -> list[str]:
    """Return the entries as networks, without duplicates; a single address is a network of one."""
    parsed: dict[str, None] = {}
    problems: dict[str, str] = {}
    for position, entry in enumerate(entries):
        try:
            parsed[str(ipaddress.ip_network(entry.strip()))] = None
        except ValueError:
            problems[f"allowed_ips.{position}"] = (
                "must be an address or a network such as 203.0.113.0/24, without bits after its prefix"
            )
    if problems:
        raise Invalid(problems)
    return list(parsed)


def is_allowed(address: str, stored: str) -> bool:
    """Return whether the address is in one of the stored networks; an empty list allows every address."""
    networks = _networks(stored)
    if not networks:
        return True
    try:
        caller = unmap_ipv4(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    return any(caller in network for network in networks)


# Cached by the stored text: a changed list is another text, so nothing must be invalidated.
@lru_cache(maxsize=1024)
def _networks(stored: str) -> tuple[IpNetwork, ...]:
    return tuple(ipaddress.ip_network(entry) for entry in msgspec.json.decode(stored))
