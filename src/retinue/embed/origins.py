"""Which pages may use a key: the entries of `allowed_domains`, compared whole and never by their ends.

example.com                any scheme and port of this host
example.com:8443           any scheme of this host and port
https://example.com:8443   this origin
*.example.com              every host below it, but not the host itself
*                          every origin, and callers that have none
"""

import ipaddress
import re
from collections.abc import Collection

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"
_HOST = rf"{_NAME}|\[[0-9a-f:.]+\]"
_ENTRY = re.compile(
    rf"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<below>\*\.)?(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?/?",
    re.ASCII,
)
# As a browser writes it: in small letters, and nothing behind the port.
_ORIGIN = re.compile(
    rf"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?", re.ASCII
)
_USUAL_PORTS = {"http": "80", "https": "443"}

ANY = "*"


class BadEntry(ValueError):
    """An entry that is not of the grammar; the message says what it must be."""


def read_entry(written: str) -> str:
    """An entry of the list in the one form in which it is stored and compared."""
    entry = written.strip().lower()
    if entry == ANY:
        return ANY
    if not entry.isascii():
        raise BadEntry("must be written in ASCII: a name in another script in its xn-- form")
    found = _ENTRY.fullmatch(entry)
    if found is None or (found["below"] and (found["scheme"] or found["port"] or "[" in found["host"])):
        raise BadEntry("must be like example.com, https://example.com:8443, *.example.com or *")
    host, port = _canonical(found["host"]), found["port"]
    if port is not None:
        port = str(int(port))
        if not 0 < int(port) < 65536:
            raise BadEntry("must have a port from 1 to 65535")
    if found["scheme"] is None:
        return f"{found['below'] or ''}{host}" + (f":{port}" if port else "")
    if port == _USUAL_PORTS.get(found["scheme"]):
        port = None
    return f"{found['scheme']}://{host}" + (f":{port}" if port else "")


def _canonical(host: str) -> str:
    if len(host) > 253:
        raise BadEntry("must have at most 253 characters in its host")
    if not host.startswith("["):
        return host
    try:
        return f"[{ipaddress.IPv6Address(host[1:-1])}]"
    except ValueError:
        raise BadEntry("must have an IPv6 address in its brackets") from None


def is_allowed(origin: str | None, entries: Collection[str]) -> bool:
    """Whether a page of this origin may use a key with this list; no list is any origin."""
    if not entries or ANY in entries:
        return True
    found = _ORIGIN.fullmatch(origin) if origin is not None else None
    return found is not None and not _matching(found).isdisjoint(entries)


def _matching(origin: re.Match[str]) -> set[str]:
    """Every entry that this origin would match."""
    host = origin["host"]
    port = origin["port"] or _USUAL_PORTS.get(origin["scheme"], "")
    labels = host.split(".") if not host.startswith("[") else []
    above = (".".join(labels[start:]) for start in range(1, len(labels)))
    return {origin[0], host, f"{host}:{port}", *(f"*.{name}" for name in above)}
