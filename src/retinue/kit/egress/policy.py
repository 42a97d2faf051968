"""The addresses, names and ports that outgoing calls may use, and the operator's exceptions."""

import functools
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from retinue.kit.egress.errors import EgressRefused
from retinue.kit.egress.hosts import Address, EgressHost, parse_host, parse_port
from retinue.kit.settings import BadSetting

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_DENIED_V4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier NAT, and Alibaba's metadata at 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host agent
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, and Oracle's metadata at 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)

# Everything else is refused: loopback, unspecified, IPv4 mapped or compatible, NAT64 (64:ff9b::), discard
# (100::), SRv6 (5f00::), unique local (fc00::), link-local (fe80::), site-local (fec0::), multicast (ff00::).
_GLOBAL_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
_DENIED_V6 = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks, anycast
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4 wraps any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # the old 6bone
        "3fff::/20",  # documentation
    )
)

# Non-HTTP services that a crafted request could reach: the ports browsers block, and data stores.
# fmt: off
_DENIED_PORTS = frozenset({
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 138, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513,
    514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 623, 636, 873, 989, 990, 993, 995,
    1080, 1099, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389,
    3659, 4045, 4190, 4369, 5060, 5061, 5432, 5433, 5671, 5672, 5900, 6000, 6379, 6380, 6432, 6566, 6665,
    6666, 6667, 6668, 6669, 6679, 6697, 7000, 7687, 8883, 9042, 9092, 9160, 9200, 9300, 10080, 10250, 10255,
    11211, 16379, 25672, 26257, 26379, 27017, 27018, 27019, 28015, 61613, 61616,
})
# fmt: on

_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})
_UNASSIGNED_ADDRESSES: dict[int, Address] = {
    4: ipaddress.IPv4Address("192.0.2.1"),
    6: ipaddress.IPv6Address("2001:db8::1"),
}
_LOOPBACK_ADDRESSES = (ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1"))


@functools.lru_cache(maxsize=4096)
def is_public(address: Address) -> bool:
    """Return whether an address, as it would be connected to, belongs to the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _DENIED_V4)
    return address in _GLOBAL_UNICAST_V6 and not any(address in network for network in _DENIED_V6)


def is_own(address: Address) -> bool:
    """Return whether the address is this machine's own, which is when a socket can be bound to it."""
    # If the kernel binds foreign addresses as well (ip_nonlocal_bind), a successful bind proves nothing.
    return _can_bind(address) and not _can_bind(_UNASSIGNED_ADDRESSES[address.version])


def _can_bind(address: Address) -> bool:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def is_denied_port(port: int) -> bool:
    return port in _DENIED_PORTS


@dataclass(frozen=True)
class _Entry:
    """An entry of the allow list: a name or a network, for one port or all."""

    name: str = ""
    network: Network | None = None
    port: int | None = None


class AllowList:
    """Destinations that the operator allows although they are private, plain http or on a denied port."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries = tuple(_parse_entry(entry) for entry in entries)
        # The list never changes and is queried several times per call.
        self.names = functools.lru_cache(maxsize=1024)(self._names)
        self.covers = functools.lru_cache(maxsize=1024)(self._covers)

    def _names(self, host: str, port: int) -> bool:
        return any(entry.name == host and entry.port in {None, port} for entry in self._entries)

    def _covers(self, address: Address, port: int) -> bool:
        return any(
            entry.network is not None and address in entry.network and entry.port in {None, port}
            for entry in self._entries
        )

    def lists(self, host: EgressHost, port: int) -> bool:
        """Return whether the destination as written is in the list; names are not resolved."""
        return self.names(host.text, port) or (host.address is not None and self.covers(host.address, port))

    def permits_host(self, host: EgressHost, port: int) -> bool:
        """Check a host before resolving it: literal addresses and names with a known address."""
        if self.lists(host, port):
            return True
        if host.address is not None:
            return is_public(host.address)
        if host.text == "localhost" or host.text.endswith(".localhost"):
            return any(self.covers(address, port) for address in _LOOPBACK_ADDRESSES)
        return host.text not in _METADATA_NAMES

    def permits_address(self, host: EgressHost, address: Address, port: int) -> bool:
        """Check a resolved address of a host; call it for each one before connecting."""
        if self.names(host.text, port) or self.covers(address, port):
            return True
        return is_public(address) and not is_own(address)


def _parse_entry(text: str) -> _Entry:
    try:
        if "/" in text:
            return _Entry(network=ipaddress.ip_network(text))
        written, port = _split_port(text)
        host = parse_host(written)
    except (ValueError, EgressRefused) as error:
        raise BadSetting(f"RETINUE_EGRESS_ALLOW: {text!r} is not a host, host:port or CIDR") from error
    if host.address is not None:
        return _Entry(network=ipaddress.ip_network(host.address), port=port)
    return _Entry(name=host.text, port=port)


def _split_port(text: str) -> tuple[str, int | None]:
    if text.count(":") > 1 and not text.startswith("["):
        return f"[{text}]", None
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text, None
    return host, parse_port(port)
