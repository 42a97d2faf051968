"""Forward proxies: which calls use one, and the tunnel to a checked address through it (ADR 25)."""

import asyncio
import base64
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote

from retinue.kit.egress.destination import Destination
from retinue.kit.egress.errors import EgressRefused
from retinue.kit.egress.hosts import EgressHost, parse_host
from retinue.kit.network_addresses import split_url
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, Settings, is_loopback

_DEFAULT_PORT = 80
_MAX_HEAD_BYTES = 16 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n", re.ASCII)


class TunnelRefused(ConnectionError):
    """The proxy did not open the tunnel."""


@dataclass(frozen=True)
class Proxy:
    """A proxy of the operator's choice; its own address is not subject to the rules for destinations."""

    host: EgressHost
    port: int
    credentials: Secret | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, variable: str, url: Secret) -> Self:
        """Parse a setting that `setting_values.proxy_url` accepted; errors never quote it."""
        parts = split_url(url.reveal())
        written = parts.hostname or ""
        try:
            host = parse_host(f"[{written}]" if ":" in written else written)
        except EgressRefused as error:
            raise BadSetting(f"{variable}: {error}") from None
        login = None
        if parts.username is not None:
            login = Secret(f"{unquote(parts.username)}:{unquote(parts.password or '')}")
        return cls(host, parts.port or _DEFAULT_PORT, login)

    async def open_tunnel(self, connected: socket.socket, target: str) -> None:
        """Ask the proxy, on a connection to it, for a tunnel to `host:port`."""
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if self.credentials is not None:
            encoded = base64.b64encode(self.credentials.reveal().encode()).decode()
            lines.append(f"Proxy-Authorization: Basic {encoded}")
        await asyncio.get_running_loop().sock_sendall(connected, ("\r\n".join(lines) + "\r\n\r\n").encode())
        status = _STATUS.match(await _read_head(connected))
        if status is None or not status[1].startswith(b"2"):
            raise TunnelRefused


async def _read_head(connected: socket.socket) -> bytes:
    """Read the proxy's response; the destination sends nothing before our request."""
    loop = asyncio.get_running_loop()
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        received = await loop.sock_recv(connected, 4096)
        head += received
        if not received or len(head) > _MAX_HEAD_BYTES or b"\r\n\r\n" in head[:-4]:
            raise TunnelRefused
    return head


class _Exceptions:
    """`NO_PROXY`: names with their subdomains, addresses and networks, names also for one port, or `*`."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._names: set[str] = set()
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for entry in entries:
            try:
                self._networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                self._names.add(entry.lower().removeprefix("*.").removeprefix("."))

    def cover(self, host: EgressHost, port: int) -> bool:
        if is_loopback(host.text) or host.text.endswith(".localhost") or "*" in self._names:
            return True
        if host.address is not None and any(host.address in network for network in self._networks):
            return True
        labels = host.text.split(".")
        suffixes = (".".join(labels[start:]) for start in range(len(labels)))
        return any(name in self._names or f"{name}:{port}" in self._names for name in suffixes)


class Proxies:
    """The proxies of an instance; loopback is always called directly."""

    def __init__(
        self,
        *,
        https: Proxy | None = None,
        http: Proxy | None = None,
        exceptions: Iterable[str] = (),
        resolve_names: bool = False,
    ) -> None:
        """With `resolve_names`, the proxies get names instead of checked addresses and are the guard."""
        self._by_scheme = {"https": https, "http": http}
        self._exceptions = _Exceptions(exceptions)
        self.resolve_names = resolve_names

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        https, http = settings.https_proxy, settings.http_proxy
        return cls(
            https=Proxy.parse("HTTPS_PROXY", https) if https else None,
            http=Proxy.parse("HTTP_PROXY", http) if http else None,
            exceptions=settings.no_proxy,
            resolve_names=settings.proxy_resolves,
        )

    def find(self, destination: Destination) -> Proxy | None:
        """Return the proxy for calls to a destination, if they use one."""
        proxy = self._by_scheme[destination.scheme]
        if proxy is None or self._exceptions.cover(destination.parsed_host, destination.port):
            return None
        return proxy


NO_PROXIES = Proxies()
