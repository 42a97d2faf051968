"""Parses a URL once; all later steps use the result and never parse the text again."""

import functools
import re
import urllib.parse
from dataclasses import dataclass, field

from retinue.kit.egress.errors import EgressRefused
from retinue.kit.egress.hosts import EgressHost, parse_host, parse_port
from retinue.kit.egress.policy import AllowList, is_denied_port

MAX_URL_LENGTH = 8192

_URL = re.compile(r"(https?)://([^/?#]+)([^#]*)(?:#.*)?", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::(.*))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Characters that a request target may contain; all others, such as non-ASCII, are percent-encoded.
_TARGET_CHARACTERS = "!$%&'()*+,-./:;=?@[]_~"
_NOTHING_ALLOWED = AllowList()


@dataclass(frozen=True)
class Destination:
    scheme: str
    host: str
    port: int
    path_and_query: str = field(repr=False)
    url: str = field(repr=False)
    parsed_host: EgressHost = field(repr=False)

    @functools.cached_property
    def authority(self) -> str:
        """Return the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @functools.cached_property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"


def parse_destination(
    url: str, allow: AllowList = _NOTHING_ALLOWED, *, require_https: bool = False
) -> Destination:
    """Parse and check a URL by its text alone, which suffices for storing it; nothing is resolved."""
    destination = read_destination(url)
    host, port = destination.parsed_host, destination.port
    if require_https and destination.scheme != "https" and not allow.lists(host, port):
        raise EgressRefused("https_required", "The URL must be https.")
    if is_denied_port(port) and not allow.lists(host, port):
        raise EgressRefused("port", f"Port {port} is not allowed for outgoing calls.")
    if not allow.permits_host(host, port):
        raise EgressRefused("address", "The host is not allowed for outgoing calls.")
    return destination


# The same few URLs are called repeatedly; errors are not cached.
@functools.lru_cache(maxsize=256)
def read_destination(url: str) -> Destination:
    """Parse a URL without checking whether calls to it are allowed; for comparison only."""
    refuse_odd_characters(url)
    matched = _URL.fullmatch(url)
    if matched is None:
        raise EgressRefused("scheme", "The URL must start with http:// or https:// and a host.")
    scheme = matched[1].lower()
    host, port = _parse_authority(matched[2], scheme)
    return Destination(scheme, host.text, port, _target(matched[3]), url, host)


def refuse_odd_characters(url: str) -> None:
    """Refuse characters that parsers treat differently: backslashes, white space, invisible characters."""
    if len(url) > MAX_URL_LENGTH:
        raise EgressRefused("url", f"The URL must be at most {MAX_URL_LENGTH} characters.")
    if not url.isprintable() or " " in url or "\\" in url:
        raise EgressRefused("url", "The URL contains a backslash, white space or an invisible character.")


def _parse_authority(authority: str, scheme: str) -> tuple[EgressHost, int]:
    if "@" in authority:
        raise EgressRefused("url", "The URL must not contain a user name or password.")
    matched = _AUTHORITY.fullmatch(authority)
    if matched is None:
        raise EgressRefused("url", "The host is not a valid name or address.")
    port = _DEFAULT_PORTS[scheme] if matched[2] is None else parse_port(matched[2])
    return parse_host(matched[1]), port


def _target(path_and_query: str) -> str:
    encoded = urllib.parse.quote(path_and_query, safe=_TARGET_CHARACTERS)
    return encoded if encoded.startswith("/") else f"/{encoded}"
