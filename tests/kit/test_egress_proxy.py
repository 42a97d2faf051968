"""Through a proxy, names are still resolved and checked here, and the proxy is told the checked address."""

import base64

import pytest

from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout
from retinue.kit.egress.destination import read_destination
from retinue.kit.egress.proxy import Proxies
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK, BadSetting, Settings
from tests.kit.certificates import certificate_for
from tests.kit.egress_listener import ScriptedResolver, listening, listening_at_both, reply
from tests.kit.egress_targets import PRIVATE_ADDRESSES, REFUSED_HOSTS
from tests.kit.proxy_server import proxying

# 127.0.0.2 plays the public address, 127.0.0.1 the one nobody may reach.
OPEN = ("127.0.0.2/32",)


def egress_through(proxy, resolver=None, allow=OPEN, **options):
    settings = Settings(
        https_proxy=Secret(proxy.url),
        http_proxy=Secret(proxy.url),
        no_proxy=options.pop("no_proxy", ()),
        proxy_resolves=options.pop("proxy_resolves", False),
    )
    return Egress(allow, resolver=resolver, proxies=Proxies.from_settings(settings), **options)


async def call(egress, url, **options):
    async with egress.request("GET", url, timeout_s=5, **options) as response:
        return response.status, await response.read()


async def test_the_proxy_is_told_the_checked_address_and_the_server_the_name(tmp_path):
    server_tls, trusted = certificate_for("api.example", tmp_path)
    resolver = ScriptedResolver(["127.0.0.2"])
    async with (
        proxying() as proxy,
        listening(address="127.0.0.2", tls=server_tls) as secure,
        listening(address="127.0.0.2") as plain,
        egress_through(proxy, resolver, ca_bundle=trusted) as egress,
    ):
        for _ in range(3):
            assert await call(egress, f"https://api.example:{secure.port}/") == (200, b"ok")
            assert await call(egress, f"http://api.example:{plain.port}/") == (200, b"ok")
        with pytest.raises(EgressFailed, match="certificate"):
            await call(egress, f"https://other.example:{secure.port}/")
        secure_target, plain_target = f"127.0.0.2:{secure.port}", f"127.0.0.2:{plain.port}"
        assert proxy.targets == [secure_target, plain_target, secure_target]
        assert (secure.connections, plain.connections) == (1, 1)
        assert f"Host: api.example:{plain.port}\r\n" in plain.heads[0]
        assert "example" not in "".join(proxy.heads)


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
async def test_a_name_with_a_private_address_is_refused_here(address):
    async with proxying() as proxy, egress_through(proxy, ScriptedResolver(["8.8.8.8", address])) as egress:
        for scheme in ("http", "https"):
            with pytest.raises(EgressRefused):
                await call(egress, f"{scheme}://inner.example:8443/")
        assert proxy.heads == []


@pytest.mark.parametrize("resolves", [False, True])
async def test_no_spelling_of_an_inner_address_reaches_the_proxy(resolves):
    async with (
        proxying() as proxy,
        listening() as canary,
        egress_through(proxy, proxy_resolves=resolves) as egress,
    ):
        for host in REFUSED_HOSTS:
            for scheme in ("http", "https"):
                with pytest.raises(EgressRefused):
                    await call(egress, f"{scheme}://{host}:{canary.port}/")
        assert (proxy.heads, canary.connections) == ([], 0)


async def test_a_name_that_turns_to_loopback_does_not_reach_it_through_the_proxy():
    resolver = ScriptedResolver(*[["127.0.0.2"], ["127.0.0.1"]] * 20)
    async with (
        proxying() as proxy,
        listening_at_both(reply(Connection="close")) as (server, canary),
        egress_through(proxy, resolver) as egress,
    ):
        refused = 0
        for _ in range(40):
            try:
                await call(egress, f"http://rebind.example:{server.port}/")
            except EgressRefused:
                refused += 1
        assert (refused, canary.connections) == (20, 0)
        assert set(proxy.targets) == {f"127.0.0.2:{server.port}"}


async def test_a_redirect_to_an_inner_address_is_refused_behind_a_proxy():
    async with proxying() as proxy, listening() as canary:
        answer = reply(status=302, Location=f"http://127.0.0.1:{canary.port}/")
        async with listening(answer, "127.0.0.2") as server, egress_through(proxy) as egress:
            with pytest.raises(EgressRefused):
                await call(egress, server.url, follow_redirects=3)
        assert canary.connections == 0


async def test_a_proxy_that_resolves_gets_names_and_nothing_is_looked_up_here():
    resolver = ScriptedResolver(["127.0.0.1"])
    async with (
        proxying() as proxy,
        listening(address="127.0.0.2") as server,
        egress_through(proxy, resolver, proxy_resolves=True) as egress,
    ):
        assert await call(egress, f"http://api.example:{server.port}/") == (200, b"ok")
        proxy.refused = {"8.8.8.8:80"}
        with pytest.raises(EgressFailed):
            await call(egress, "http://8.8.8.8/")
        assert proxy.targets == [f"api.example:{server.port}", "8.8.8.8:80"]
        assert resolver.asked == []


async def test_the_next_checked_address_is_tried_if_the_proxy_cannot_reach_one():
    resolver = ScriptedResolver(["::1", "127.0.0.2"])
    async with (
        proxying() as proxy,
        listening(address="127.0.0.2") as server,
        egress_through(proxy, resolver, allow=("127.0.0.2", "::1")) as egress,
    ):
        proxy.refused = {f"[::1]:{server.port}"}
        assert await call(egress, f"http://dual.example:{server.port}/") == (200, b"ok")
        assert proxy.targets == [f"[::1]:{server.port}", f"127.0.0.2:{server.port}"]


async def test_credentials_of_the_proxy_go_to_the_proxy_alone():
    async with proxying() as proxy, listening(address="127.0.0.2") as server:
        url = Secret(proxy.url.replace("//", "//ada:p%40ss%0D%0Aword@"))
        proxies = Proxies.from_settings(Settings(http_proxy=url))
        async with Egress(OPEN, resolver=ScriptedResolver(["127.0.0.2"]), proxies=proxies) as egress:
            await call(egress, f"http://api.example:{server.port}/")
        encoded = base64.b64encode(b"ada:p@ss\r\nword").decode()
        assert f"Proxy-Authorization: Basic {encoded}\r\n" in proxy.heads[0]
        assert "Proxy-Authorization" not in server.heads[0]
        assert "p@ss" not in repr(proxies.find(read_destination("http://a.example/")))


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n",
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nsecret",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/2 200\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
        b"\x15\x03\x01\x00\x02\x02\x0a" * 3000,
    ],
)
async def test_a_proxy_that_opens_no_tunnel_is_a_network_error(answer):
    async with proxying(answer) as proxy, egress_through(proxy, ScriptedResolver(["127.0.0.2"])) as egress:
        with pytest.raises(EgressFailed) as caught:
            await call(egress, "http://api.example/")
        assert (str(caught.value), caught.value.code) == (
            "The proxy did not open a connection to the destination.",
            "network_error",
        )


async def test_a_proxy_that_says_nothing_ends_with_the_connect_timeout():
    resolver = ScriptedResolver(["127.0.0.2"])
    async with proxying(b"HTTP/1.1 200") as proxy, egress_through(proxy, resolver) as egress:
        with pytest.raises(EgressTimeout):
            await call(egress, "http://api.example/", connect_timeout_s=0.1)


async def test_a_proxy_may_be_private_and_have_a_name():
    resolver = ScriptedResolver(["127.0.0.2"], ["127.0.0.1"])
    async with proxying() as proxy, listening(address="127.0.0.2") as server:
        proxies = Proxies.from_settings(Settings(http_proxy=Secret(f"http://proxy.corp:{proxy.port}")))
        async with Egress(OPEN, resolver=resolver, proxies=proxies) as egress:
            assert await call(egress, f"http://api.example:{server.port}/") == (200, b"ok")
            assert resolver.asked == ["api.example", "proxy.corp"]


async def test_loopback_and_exceptions_are_called_directly():
    async with proxying() as proxy, listening() as local, listening(address="127.0.0.2") as server:
        async with egress_through(proxy, allow=LOOPBACK, no_proxy=("127.0.0.2",)) as egress:
            for url in (local.url, server.url, f"http://localhost:{local.port}"):
                assert await call(egress, url) == (200, b"ok")
        assert proxy.heads == []


@pytest.mark.parametrize(
    ("entry", "url", "is_direct"),
    [
        ("api.example", "https://api.example/", True),
        ("example", "https://api.example/", True),
        (".example", "https://api.example/", True),
        ("*.example", "https://api.example/", True),
        ("API.example", "https://api.example/", True),
        ("pi.example", "https://api.example/", False),
        ("api.example.com", "https://api.example/", False),
        ("api.example:443", "https://api.example/", True),
        ("api.example:8443", "https://api.example/", False),
        ("*", "https://api.example/", True),
        (".", "https://api.example/", False),
        ("10.1.2.3", "https://10.1.2.3/", True),
        ("10.0.0.0/8", "https://10.1.2.3/", True),
        ("11.0.0.0/8", "https://10.1.2.3/", False),
        ("fd00::/8", "https://[fd00::1]/", True),
        ("[fd00::1]", "https://[fd00::1]/", True),
        ("other", "https://x.localhost/", True),
        ("other", "https://[::1]/", True),
        ("other", "https://127.0.0.7/", True),
    ],
)
def test_exceptions_are_names_with_subdomains_addresses_and_networks(entry, url, is_direct):
    proxies = Proxies.from_settings(Settings(https_proxy=Secret("http://proxy:3128"), no_proxy=(entry,)))
    assert (proxies.find(read_destination(url)) is None) == is_direct
    assert proxies.find(read_destination(url.replace("https", "http"))) is None


def test_a_proxy_whose_host_is_no_host_is_refused_by_its_variable():
    with pytest.raises(BadSetting, match="HTTPS_PROXY") as caught:
        Proxies.from_settings(Settings(https_proxy=Secret("http://ada:secret@pröxy:3128")))
    assert "secret" not in str(caught.value)
