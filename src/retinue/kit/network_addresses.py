"""URLs and IP addresses, parsed and formatted identically by every Python release.

Newer releases of `urllib.parse` refuse more URLs, and `ipaddress` formats and classifies IPv4-mapped
addresses differently; an upgrade must not turn a stored value into an error or another value.
"""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_BRACKETED = re.compile(r"(?:[^\[\]]*@)?\[[^\[\]]*\](?::[^\[\]]*)?")


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL; raise `ValueError` if brackets enclose anything but the whole host."""
    parts = urlsplit(url)
    if ("[" in parts.netloc or "]" in parts.netloc) and not _BRACKETED.fullmatch(parts.netloc):
        raise ValueError("brackets must enclose the whole host")
    return parts


def policy_sources(url: object) -> list[str]:
    """Return the origin of an image for a content security policy; paths are on this server and need none."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return []
    try:
        parts = split_url(url)
    except ValueError:
        return []
    # A policy cannot express IPv6 addresses, and its own punctuation in a host would end the directive.
    if not all(char.isalnum() or char in ".-:_" for char in parts.netloc):
        return []
    try:
        return [f"{parts.scheme}://{parts.netloc.encode('idna').decode()}"]
    except UnicodeError:
        return []


def unmap_ipv4(address: IpAddress) -> IpAddress:
    """Return the IPv4 address mapped into an IPv6 one, else the address itself."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def canonical_text(address: IpAddress) -> str:
    """Return an address as browsers write it: hexadecimal groups even for a mapped IPv4 address."""
    mapped = unmap_ipv4(address)
    if mapped is address:
        return str(address)
    return f"::ffff:{int(mapped) >> 16:x}:{int(mapped) & 0xFFFF:x}"
