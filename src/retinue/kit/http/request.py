"""The request as seen by the pipeline."""

import ipaddress
import re
from typing import Any
from urllib.parse import parse_qsl

from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id, use_time_ordered_ids
from retinue.kit.network_addresses import unmap_ipv4
from retinue.kit.principal import ANONYMOUS, Principal
from retinue.kit.tracing.origin import CORRELATION_PREFIX, TRACEPARENT_HEADER, TraceOrigin

_CORRELATION = re.compile(rb"^[A-Za-z0-9._-]{1,64}$")
# The event log has an index over correlation ids.
use_time_ordered_ids(CORRELATION_PREFIX)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Request:
    __slots__ = (
        "_query_pairs",
        "arrived_at",
        "began",
        "correlation_id",
        "embed_key",
        "has_effects",
        "headers",
        "ip_address",
        "limit_headers",
        "method",
        "origin_is_allowed",
        "path",
        "principal",
        "query_string",
        "receive",
        "request_id",
        "responded_at",
        "route",
        "scope",
        "trace",
    )

    def __init__(self, scope: Any, receive: Any, trusted: tuple[Network, ...]) -> None:
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query_string: bytes = scope["query_string"]
        self._query_pairs: list[tuple[str, str]] | None = None
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.principal: Principal = ANONYMOUS
        self.embed_key: str | None = None
        self.origin_is_allowed = False
        self.has_effects = False
        self.arrived_at: float | None = None
        self.began = 0.0
        self.responded_at: float | None = None
        self.route: Any = None
        self.trace: TraceOrigin | None = None
        self.limit_headers: list[tuple[bytes, bytes]] = []
        generated = new_id(CORRELATION_PREFIX)
        self.request_id = f"req_{generated[4:]}"
        sent = self.headers.get(b"x-correlation-id")
        self.correlation_id = sent.decode() if sent is not None and _CORRELATION.match(sent) else generated
        client = scope.get("client")
        self.ip_address: str = client[0] if client else ""
        if trusted and b"x-forwarded-for" in self.headers:
            # A proxy may add another header line instead of extending the existing one.
            lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            self.ip_address = forwarded_address(self.ip_address, b",".join(lines).decode("latin-1"), trusted)

    def find_trace(self) -> TraceOrigin | None:
        """Return the trace of the request; none for reads. Visitors cannot continue a trace."""
        if self.method != "GET":
            header, is_trusted = self.headers.get(TRACEPARENT_HEADER), bool(self.principal.owner_id)
            self.trace = TraceOrigin.of_header(header, is_trusted=is_trusted, request_id=self.request_id)
        return self.trace

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def query(self) -> dict[str, str]:
        return dict(self.query_pairs())

    def query_pairs(self) -> list[tuple[str, str]]:
        if self._query_pairs is None:
            self._query_pairs = self._parse_query()
        return self._query_pairs

    def _parse_query(self) -> list[tuple[str, str]]:
        try:
            pairs = parse_qsl(self.query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        except ValueError as error:
            raise Invalid({"query": "must have at most 100 parameters"}) from error
        for name, value in pairs:
            if "\0" in value or "\0" in name:
                raise Invalid({name.replace("\0", "") or "query": "must not contain the character U+0000"})
        return pairs


def forwarded_address(peer: str, forwarded: str, trusted: tuple[Network, ...]) -> str:
    """Return the right-most address that is not a trusted proxy; headers from other peers are ignored."""
    address = peer
    for hop in reversed([part.strip() for part in forwarded.split(",")]):
        if not _is_trusted(address, trusted):
            return address
        parsed = _parsed(hop)
        if parsed is None:
            return address
        address = str(parsed)
    return address


def _is_trusted(address: str, trusted: tuple[Network, ...]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in trusted)


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address; an IPv4-mapped IPv6 address becomes the IPv4 address."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return unmap_ipv4(address)


def limit_address(ip_address: str) -> str:
    """Return the key of an address for limits: an IPv6 host owns its whole /64."""
    if ":" not in ip_address:
        return ip_address
    address = _parsed(ip_address)
    if not isinstance(address, ipaddress.IPv6Address):
        return str(address or ip_address)
    return str(ipaddress.IPv6Address(int(address) >> 64 << 64))
