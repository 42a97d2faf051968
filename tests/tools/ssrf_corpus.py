"""Addresses no outgoing call may reach, as whole URLs and as hosts (security rows S1 to S6)."""

import ipaddress

from tests.kit.egress_targets import PRIVATE_ADDRESSES, REFUSED_HOSTS

_ODD = [
    "http://127.0.0.1:{port}\\@example.com/",
    "http://example.com\\@127.0.0.1:{port}/",
    "http://example.com@127.0.0.1:{port}/",
    "http://user:secret@127.0.0.1:{port}/",
    "http://a@b@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}%2f@example.com/",
    "http://example.com%2f@127.0.0.1:{port}/",
    "http://127.0.0.1%00:{port}/",
    "http://127.0.0.1\t:{port}/",
    "http://127.0.0.1 :{port}/",
    "http://127.0.0.1:{port}\r\nHost: example.com",
    "http://[127.0.0.1]:{port}/",
    "http://[localhost]:{port}/",
    "http://[::1%25lo]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:0:127.0.0.1]:{port}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/",
    "http:///127.0.0.1:{port}/",
    "http:127.0.0.1:{port}",
    "http:/127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "127.0.0.1:{port}",
    "http://127.0.0.1:{port}#@example.com/",
    "http://127.0.0.1:{port}?@example.com/",
    "http://127。0。0。1:{port}/",
    "http://ⓛocalhost:{port}/",
    "HTTP://LocalHost:{port}/",
    "http://localhost.:{port}/",
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "gopher://127.0.0.1:{port}/_GET",
    "dict://127.0.0.1:{port}/info",
    "ftp://127.0.0.1:{port}/",
    "ldap://127.0.0.1:{port}/",
    "ws://127.0.0.1:{port}/",
    "jar:http://127.0.0.1:{port}!/",
    "data:text/plain,x",
    "unix:/var/run/docker.sock",
]
_DENIED_PORTS = (22, 25, 110, 143, 465, 587, 2375, 3306, 5432, 6379, 9200, 11211, 27017)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ipaddress.ip_address(address).version == 6 else address


HOSTS = [*REFUSED_HOSTS, *(_bracketed(address) for address in PRIVATE_ADDRESSES)]


def urls(port: int) -> list[str]:
    """Every spelling, aimed at this port where it can be."""
    found = [f"http://{host}:{port}/x" for host in HOSTS]
    found += [text.replace("{port}", str(port)) for text in _ODD]
    found += [f"https://8.8.8.8:{denied}/" for denied in _DENIED_PORTS]
    return list(dict.fromkeys(found))
