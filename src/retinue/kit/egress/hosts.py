"""Host names and literal addresses, parsed as the operating system parses them."""

import ipaddress
import re
import socket
from dataclasses import dataclass

from retinue.kit.egress.errors import EgressRefused
from retinue.kit.network_addresses import canonical_text

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)


@dataclass(frozen=True)
class EgressHost:
    """A host in its canonical form; `address` is set if it was written as an address."""

    text: str
    address: Address | None = None


def parse_host(written: str) -> EgressHost:
    """Parse the host of a URL: a name, an IPv4 address in any legacy form, or an IPv6 one in brackets."""
    if not written.isascii():
        raise EgressRefused("url", "The host must be ASCII. Write an international name in its xn-- form.")
    lowered = written.lower()
    if lowered.startswith("["):
        return _parse_v6(lowered)
    name = lowered.removesuffix(".")
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise EgressRefused("url", "The host is not a valid name or address.")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _parse_v4(name)
    return EgressHost(name)


def parse_port(written: str) -> int:
    if not _PORT.fullmatch(written) or not 0 < int(written) < 65536:
        raise EgressRefused("url", "The port must be a number from 1 to 65535.")
    return int(written)


def _parse_v6(bracketed: str) -> EgressHost:
    is_plain = bracketed.endswith("]") and "%" not in bracketed
    try:
        address = ipaddress.IPv6Address(bracketed[1:-1] if is_plain else "")
    except ValueError:
        raise EgressRefused("url", "Brackets must contain an IPv6 address without a zone.") from None
    return EgressHost(canonical_text(address), address)


def _parse_v4(name: str) -> EgressHost:
    """Parse with `inet_aton`, as getaddrinfo does, so that 127.1, 0x7f.1 and 2130706433 are recognized."""
    try:
        address = ipaddress.IPv4Address(socket.inet_aton(name))
    except OSError:
        raise EgressRefused("url", "The host ends in a number but is not an IPv4 address.") from None
    return EgressHost(str(address), address)
