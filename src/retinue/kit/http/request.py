"""A request as the pipeline sees it."""

import ipaddress
import re
import secrets
from typing import Any
from urllib.parse import parse_qsl

from retinue.kit.errors import Invalid
from retinue.kit.principal import ANONYMOUS, Principal

_CORRELATION = re.compile(rb"^[A-Za-z0-9._-]{1,64}$")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Request:
    __slots__ = (
        "correlation_id",
        "headers",
        "ip_address",
        "limit_headers",
        "method",
        "path",
        "principal",
        "query_string",
        "receive",
        "request_id",
        "route",
        "scope",
    )

    def __init__(self, scope: Any, receive: Any, trusted: tuple[Network, ...]) -> None:
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query_string: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.principal: Principal = ANONYMOUS
        self.route: Any = None
        self.limit_headers: list[tuple[bytes, bytes]] = []
        random = secrets.token_hex(13)
        self.request_id = f"req_{random}"
        given = self.headers.get(b"x-correlation-id")
        self.correlation_id = (
            given.decode() if given is not None and _CORRELATION.match(given) else f"cor_{random}"
        )
        client = scope.get("client")
        self.ip_address: str = client[0] if client else ""
        if trusted and b"x-forwarded-for" in self.headers:
            self.ip_address = forwarded_address(
                self.ip_address, self.headers[b"x-forwarded-for"].decode("latin-1"), trusted
            )

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def query(self) -> dict[str, str]:
        try:
            pairs = parse_qsl(self.query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        except ValueError as error:
            raise Invalid({"query": "too many parameters"}) from error
        for name, value in pairs:
            if "\0" in value or "\0" in name:
                raise Invalid({name.replace("\0", "") or "query": "must not contain NUL"})
        return dict(pairs)


def forwarded_address(peer: str, forwarded: str, trusted: tuple[Network, ...]) -> str:
    """The right-most address that no trusted proxy vouches for; a header from anyone else means nothing."""
    address = peer
    for hop in reversed([part.strip() for part in forwarded.split(",")]):
        if not _is_trusted(address, trusted):
            return address
        try:
            address = str(ipaddress.ip_address(hop))
        except ValueError:
            return address
    return address


def _is_trusted(address: str, trusted: tuple[Network, ...]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in trusted)


def limit_address(ip_address: str) -> str:
    """What an address counts as for limits: an IPv6 host owns its whole /64."""
    if ":" not in ip_address:
        return ip_address
    try:
        network = ipaddress.ip_network(f"{ip_address.partition('%')[0]}/64", strict=False)
    except ValueError:
        return ip_address
    return str(network.network_address)
