"""A URL is read once, here; everything after works on the result and never on the text again."""

import functools
import re
import urllib.parse
from dataclasses import dataclass, field

from retinue.kit.egress.errors import EgressRefused
from retinue.kit.egress.hosts import Host, parse_host, parse_port
from retinue.kit.egress.policy import AllowList, is_denied_port

MAX_URL_LENGTH = 8192

_URL = re.compile(r"(https?)://([^/?#]+)([^#]*)(?:#.*)?", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::(.*))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# What a request target may hold as it is; the rest, such as non-ASCII text, is percent-encoded.
_TARGET_CHARACTERS = "!$%&'()*+,-./:;=?@[]_~"
_NOTHING_ALLOWED = AllowList()


@dataclass(frozen=True)
class Destination:
    scheme: str
    host: str
    port: int
    path_and_query: str = field(repr=False)
    url: str = field(repr=False)
    parsed_host: Host = field(repr=False)

    @functools.cached_property
    def authority(self) -> str:
        """What the Host header says."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == _DEFAULT_PORTS[self.scheme] else f"{shown}:{self.port}"

    @functools.cached_property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"


def parse_destination(
    url: str, allow: AllowList = _NOTHING_ALLOWED, *, require_https: bool = False
) -> Destination:
    """Check a URL by everything its text tells; nothing is resolved, so this is the check for storing one."""
    destination = read_destination(url)
    host, port = destination.parsed_host, destination.port
    if require_https and destination.scheme != "https" and not allow.lists(host, port):
        raise EgressRefused("https_required", "The URL must be https.")
    if is_denied_port(port) and not allow.lists(host, port):
        raise EgressRefused("port", f"Outgoing calls may not use port {port}.")
    if not allow.permits_host(host, port):
        raise EgressRefused("address", "Outgoing calls may not go to this host.")
    return destination


# The same few URLs are called again and again; a refusal is not kept, so nothing odd is remembered.
@functools.lru_cache(maxsize=256)
def read_destination(url: str) -> Destination:
    """Read a URL, whether or not calls may go there: to compare it, never to call it."""
    refuse_odd_characters(url)
    matched = _URL.fullmatch(url)
    if matched is None:
        raise EgressRefused("scheme", "The URL must start with http:// or https:// and a host.")
    scheme = matched[1].lower()
    host, port = _parse_authority(matched[2], scheme)
    return Destination(scheme, host.text, port, _target(matched[3]), url, host)


def refuse_odd_characters(url: str) -> None:
    """Refuse what programs disagree about: backslashes, white space, control and invisible characters."""
    if len(url) > MAX_URL_LENGTH:
        raise EgressRefused("url", f"The URL is longer than {MAX_URL_LENGTH} characters.")
    if not url.isprintable() or " " in url or "\\" in url:
        raise EgressRefused("url", "The URL has a backslash, white space or an invisible character.")


def _parse_authority(authority: str, scheme: str) -> tuple[Host, int]:
    if "@" in authority:
        raise EgressRefused("url", "The URL may not carry a user name or password.")
    matched = _AUTHORITY.fullmatch(authority)
    if matched is None:
        raise EgressRefused("url", "The host is not a valid name or address.")
    port = _DEFAULT_PORTS[scheme] if matched[2] is None else parse_port(matched[2])
    return parse_host(matched[1]), port


def _target(path_and_query: str) -> str:
    encoded = urllib.parse.quote(path_and_query, safe=_TARGET_CHARACTERS)
    return encoded if encoded.startswith("/") else f"/{encoded}"
