"""Origin check of embed keys: entries of `allowed_domains`, compared as a whole, never by suffix.

example.com                any scheme and port of this host
example.com:8443           any scheme of this host and port
https://example.com:8443   this origin
*.example.com              every host below it, but not the host itself
*                          every origin, and callers without one
"""

import ipaddress
import re
from collections.abc import Collection

from retinue.kit.network_addresses import canonical_text

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"
_HOST = rf"{_NAME}|\[[0-9a-f:.]+\]"
_ENTRY = re.compile(
    rf"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<below>\*\.)?(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?/?",
    re.ASCII,
)
# As browsers send it: lower case, and nothing after the port.
_ORIGIN = re.compile(
    rf"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?", re.ASCII
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}

ANY_ORIGIN = "*"


class InvalidOriginEntry(ValueError):
    """An invalid entry; the message says what it must look like."""


def parse_entry(text: str) -> str:
    """Return an entry in the normalized form in which it is stored and compared."""
    entry = text.strip().lower()
    if entry == ANY_ORIGIN:
        return ANY_ORIGIN
    if not entry.isascii():
        raise InvalidOriginEntry("must be ASCII; use the xn-- form for international names")
    match = _ENTRY.fullmatch(entry)
    if match is None or (match["below"] and (match["scheme"] or match["port"] or "[" in match["host"])):
        raise InvalidOriginEntry("must be like example.com, https://example.com:8443, *.example.com or *")
    host, port = _canonical(match["host"]), match["port"]
    if port is not None:
        port = str(int(port))
        if not 0 < int(port) < 65536:
            raise InvalidOriginEntry("must have a port from 1 to 65535")
    if match["scheme"] is None:
        return f"{match['below'] or ''}{host}" + (f":{port}" if port else "")
    if port == _DEFAULT_PORTS.get(match["scheme"]):
        port = None
    return f"{match['scheme']}://{host}" + (f":{port}" if port else "")


def _canonical(host: str) -> str:
    if len(host) > 253:
        raise InvalidOriginEntry("must have a host of at most 253 characters")
    if not host.startswith("["):
        return host
    try:
        return f"[{canonical_text(ipaddress.IPv6Address(host[1:-1]))}]"
    except ValueError:
        raise InvalidOriginEntry("must have a valid IPv6 address in brackets") from None


def is_origin(text: str) -> bool:
    """Return whether this is an origin as browsers send it, with a host."""
    return len(text) <= 300 and _ORIGIN.fullmatch(text) is not None


def is_allowed(origin: str | None, entries: Collection[str]) -> bool:
    """Return whether pages of this origin may use the key; an empty list allows every origin."""
    if not entries or ANY_ORIGIN in entries:
        return True
    match = _ORIGIN.fullmatch(origin) if origin is not None else None
    return match is not None and not _matching(match).isdisjoint(entries)


def _matching(origin: re.Match[str]) -> set[str]:
    """Return every entry that would match this origin."""
    host = origin["host"]
    port = origin["port"] or _DEFAULT_PORTS.get(origin["scheme"], "")
    labels = host.split(".") if not host.startswith("[") else []
    above = (".".join(labels[start:]) for start in range(1, len(labels)))
    return {origin[0], host, f"{host}:{port}", *(f"*.{name}" for name in above)}
