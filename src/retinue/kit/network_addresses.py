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
