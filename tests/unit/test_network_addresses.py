"""URLs and IP addresses mean the same to every Python."""

import ipaddress

import pytest

from retinue.kit import network_addresses
from retinue.kit.network_addresses import canonical_text, split_url, unmap_ipv4
from retinue.kit.settings import is_loopback
from tests.each_python import answers

HOSTS = {
    "https://example.com:8443/x?y": "example.com",
    "https://u:p@[::1]:8/": "::1",
    "https://[2001:db8::1]": "2001:db8::1",
    "relative/path": None,
    "https://[::1": "refused",
    "https://[::1]x/": "refused",
    "https://x[::1]/": "refused",
    "https://[::1]]/": "refused",
    "https://[[::1]/": "refused",
    "https://u[1]@[::1]/": "refused",
    "https://a]/": "refused",
}
WRITTEN = {
    "::ffff:127.0.0.1": ("::ffff:7f00:1", "127.0.0.1"),
    "::ffff:0:1": ("::ffff:0:1", "0.0.0.1"),
    "::ffff:255.255.0.16": ("::ffff:ffff:10", "255.255.0.16"),
    "::1": ("::1", "::1"),
    "2001:DB8:0:0::1": ("2001:db8::1", "2001:db8::1"),
    "127.0.0.1": ("127.0.0.1", "127.0.0.1"),
}
_SPLIT = """
def tried(url):
    try:
        return module.split_url(url).hostname
    except ValueError:
        return "refused"
"""
_WRITE = """
import ipaddress

def tried(text):
    address = ipaddress.ip_address(text)
    return [module.canonical_text(address), str(module.unmap_ipv4(address))]
"""


def test_a_mapped_address_is_the_one_it_stands_for():
    for text, (canonical, own) in WRITTEN.items():
        address = ipaddress.ip_address(text)
        assert (canonical_text(address), str(unmap_ipv4(address))) == (canonical, own)
    assert is_loopback("[::ffff:127.0.0.1]")
    assert not is_loopback("[::ffff:10.0.0.1]")


def test_brackets_stand_around_a_whole_host():
    for url, host in HOSTS.items():
        if host == "refused":
            with pytest.raises(ValueError, match=r"."):
                split_url(url)
        else:
            assert split_url(url).hostname == host


def test_every_python_finds_the_same():
    for python, found in answers(network_addresses, _SPLIT, [*HOSTS]).items():
        assert found == [*HOSTS.values()], python
    for python, found in answers(network_addresses, _WRITE, [*WRITTEN]).items():
        assert found == [list(pair) for pair in WRITTEN.values()], python
