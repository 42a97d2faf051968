import asyncio
import itertools
import socket

import pytest

from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, Resolver
from retinue.kit.settings import LOOPBACK, Settings
from tests.kit.certificates import certificate_for
from tests.kit.egress_listener import ScriptedResolver, listening, listening_at_both, reply
from tests.kit.egress_targets import REFUSED_HOSTS

# 127.0.0.2 plays the public address, 127.0.0.1 the one nobody may reach.
OPEN = ("127.0.0.2/32",)


async def call(egress, url, method="GET", **options):
    options.setdefault("timeout_s", 5)
    async with egress.request(method, url, **options) as response:
        return response.status, await response.read()


@pytest.fixture
async def closed_egress():
    """An egress with nothing allowed, and the loopback listener it must never reach."""
    async with Egress() as egress, listening() as trap:
        yield egress, trap
        assert trap.connections == 0


async def test_an_allowed_loopback_address_answers_over_one_kept_connection():
    async with Egress(LOOPBACK) as egress, listening() as server:
        for path in ("/a?b=c", "/d", "/e/../f"):
            assert await call(egress, f"{server.url}{path}", headers={"X-A": "ä"}) == (200, b"ok")
        assert server.connections == 1
        assert [head.split(" ")[1] for head in server.heads] == ["/a?b=c", "/d", "/e/../f"]
        assert f"Host: 127.0.0.1:{server.port}\r\n" in server.heads[0]
        assert "Accept-Encoding: gzip, deflate\r\n" in server.heads[0]
        assert "User-Agent: Retinue\r\n" in server.heads[0]


async def test_the_callers_own_agent_is_sent_alone_however_it_is_spelled():
    async with Egress(LOOPBACK) as egress, listening() as server:
        await call(egress, server.url, headers={"user-agent": "Mine"})
        assert server.heads[0].lower().count("user-agent") == 1
        assert "Mine" in server.heads[0]


async def test_a_name_is_resolved_once_per_call_and_sent_as_the_host():
    resolver = ScriptedResolver(["127.0.0.2"])
    async with Egress(OPEN, resolver=resolver) as egress, listening(address="127.0.0.2") as server:
        assert await call(egress, f"http://Api.Example:{server.port}/") == (200, b"ok")
        assert resolver.asked == ["api.example"]
        assert f"Host: api.example:{server.port}\r\n" in server.heads[0]


async def test_calls_wait_for_a_free_connection_and_one_that_leaves_takes_nobodys_place():
    async with Egress(LOOPBACK, max_connections=2) as egress, listening() as server:
        held = [egress.request("GET", server.url, timeout_s=5) for _ in range(2)]
        for one in held:
            await one.__aenter__()
        with pytest.raises(EgressTimeout):
            await call(egress, server.url, connect_timeout_s=0.05)
        gone, *waiting = (asyncio.create_task(call(egress, server.url)) for _ in range(4))
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in (gone, *waiting))
        gone.cancel()
        await held[0].__aexit__(None, None, None)
        # In the same moment in which its turn comes.
        waiting[0].cancel()
        assert await asyncio.gather(*waiting[1:]) == [(200, b"ok")] * 2
        await held[1].__aexit__(None, None, None)
        assert await asyncio.gather(*(call(egress, server.url) for _ in range(5))) == [(200, b"ok")] * 5
        assert (gone.cancelled(), waiting[0].cancelled()) == (True, True)


async def test_a_large_body_goes_out_whole():
    body = bytes(range(256)) * 12_000
    async with Egress(LOOPBACK) as egress, listening() as server:
        assert await call(egress, server.url, "POST", content=body, headers={"Content-Type": "x/y"})
        assert await call(egress, server.url, "POST", content=b"")
        assert server.bodies == [body, b""]
        assert "Content-Type: x/y" in server.heads[0]
        assert "Content-Type" not in server.heads[1]


@pytest.mark.parametrize("host", REFUSED_HOSTS)
async def test_no_spelling_of_an_inner_address_is_ever_connected_to(closed_egress, host):
    egress, trap = closed_egress
    for scheme in ("http", "https"):
        with pytest.raises(EgressRefused):
            await call(egress, f"{scheme}://{host}:{trap.port}/")


async def test_the_machines_own_name_is_refused(closed_egress, monkeypatch):
    egress, trap = closed_egress
    resolver = ScriptedResolver(["8.8.8.8"])
    monkeypatch.setattr("retinue.kit.egress.policy.is_own", lambda address: str(address) == "8.8.8.8")
    async with Egress(resolver=resolver) as strict:
        with pytest.raises(EgressRefused):
            await call(strict, f"http://own.example:{trap.port}/")
    with pytest.raises((EgressRefused, EgressFailed)):
        await call(egress, f"http://{socket.gethostname()}:{trap.port}/")


TURNING = list(itertools.chain.from_iterable([["127.0.0.2"], ["127.0.0.1"]] for _ in range(50)))
ELSEWHERE = "The host leads to an address that is not allowed for outgoing calls."


async def outcomes_of(egress, url, calls):
    outcomes = []
    for _ in range(calls):
        try:
            outcomes.append(await call(egress, url))
        except EgressRefused as error:
            outcomes.append(str(error))
    return outcomes


async def test_a_name_that_turns_to_loopback_between_calls_never_reaches_it():
    async with (
        listening_at_both(reply(Connection="close")) as (server, trap),
        Egress(OPEN, resolver=ScriptedResolver(*TURNING)) as egress,
    ):
        outcomes = await outcomes_of(egress, f"http://rebind.example:{server.port}/", 100)
        assert outcomes == [(200, b"ok"), ELSEWHERE] * 50
        assert (len(server.heads), trap.connections) == (50, 0)


async def test_a_kept_connection_stays_at_its_checked_address_while_its_name_turns_to_loopback():
    resolver = ScriptedResolver(*TURNING)
    async with (
        listening_at_both() as (server, trap),
        Egress(OPEN, resolver=resolver) as egress,
    ):
        outcomes = await outcomes_of(egress, f"http://rebind.example:{server.port}/", 100)
        assert outcomes == [(200, b"ok")] * 100
        assert (server.connections, trap.connections, len(resolver.asked)) == (1, 0, 1)


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.2", "127.0.0.1"],
        ["127.0.0.1", "127.0.0.2"],
        ["127.0.0.2", "::1"],
        ["127.0.0.2", "fd00::1"],
        ["127.0.0.2", "8.8.8.8", "169.254.169.254"],
        ["8.8.8.8", "10.0.0.1"],
        ["2606:4700::1111", "127.0.0.1"],
        ["127.0.0.2", "::ffff:127.0.0.2"],
        ["127.0.0.2", "64:ff9b::7f00:1"],
        ["fe80::1%lo"],
        ["0.0.0.0"],
    ],
)
async def test_one_refused_address_refuses_the_whole_name(addresses):
    async with (
        listening_at_both() as (server, trap),
        Egress(OPEN, resolver=ScriptedResolver(addresses)) as egress,
    ):
        with pytest.raises(EgressRefused) as caught:
            await call(egress, f"http://mixed.example:{server.port}/")
        assert caught.value.reason == "address"
        assert server.connections == trap.connections == 0


async def test_a_connection_that_leads_elsewhere_is_dropped_before_anything_is_sent(monkeypatch):
    async with (
        listening(address="127.0.0.2") as server,
        listening() as trap,
        Egress(OPEN) as egress,
    ):
        loop = asyncio.get_running_loop()
        connect = loop.sock_connect

        async def divert(sock, _address):
            return await connect(sock, ("127.0.0.1", trap.port))

        monkeypatch.setattr(loop, "sock_connect", divert)
        with pytest.raises(EgressRefused):
            await call(egress, server.url, headers={"Authorization": "Bearer x"})
        assert (server.connections, trap.heads) == (0, [])


async def test_the_next_address_is_tried_when_one_takes_no_connection():
    resolver = ScriptedResolver(["127.0.0.3", "127.0.0.4", "127.0.0.2"])
    async with (
        Egress(("127.0.0.0/29",), resolver=resolver) as egress,
        listening(address="127.0.0.2") as server,
    ):
        assert await call(egress, f"http://many.example:{server.port}/") == (200, b"ok")


async def test_a_destination_that_takes_no_connection_is_a_network_error_without_its_address():
    resolver = ScriptedResolver(["127.0.0.3"])
    async with Egress(("127.0.0.0/29",), resolver=resolver) as egress:
        with pytest.raises(EgressFailed) as caught:
            await call(egress, "http://down.example:81/?key=sk-secret")
    assert caught.value.code == "network_error"
    assert "127.0.0.3" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert caught.value.__suppress_context__


async def test_a_name_nobody_knows_is_a_network_error():
    class Unknown(Resolver):
        async def resolve(self, host):
            raise socket.gaierror(-2, "Name or service not known")

    for resolver in (Unknown(), ScriptedResolver([])):
        async with Egress(resolver=resolver) as egress:
            with pytest.raises(EgressFailed, match="resolved"):
                await call(egress, "http://unknown.example/")


async def test_a_resolver_that_hangs_ends_with_the_connect_timeout():
    class Hanging(Resolver):
        async def resolve(self, host):
            await asyncio.Event().wait()

    async with Egress(resolver=Hanging()) as egress:
        with pytest.raises(EgressTimeout):
            await call(egress, "http://slow.example/", connect_timeout_s=0.05)


async def test_a_full_backlog_ends_with_the_connect_timeout():
    with socket.socket() as server, socket.socket() as first, socket.socket() as second:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(server.getsockname())
        async with Egress(LOOPBACK) as egress:
            with pytest.raises(EgressTimeout):
                await call(egress, f"http://127.0.0.1:{server.getsockname()[1]}/", connect_timeout_s=0.1)


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get", "GET / HTTP/1.1\r\nX: y\r\n\r\n", ""])
async def test_other_methods_are_refused(closed_egress, method):
    with pytest.raises(EgressRefused):
        await call(closed_egress[0], "http://example.com/", method)


async def test_headers_are_checked_before_anything_is_resolved():
    resolver = ScriptedResolver(["8.8.8.8"])
    async with Egress(resolver=resolver) as egress:
        for headers in ({"Host": "evil"}, {"X": "a\r\nHost: evil"}, {"Content-Length": "1"}):
            with pytest.raises(EgressRefused):
                await call(egress, "http://example.com/", headers=headers)
    assert resolver.asked == []


async def test_storing_a_url_resolves_nothing():
    resolver = ScriptedResolver(["127.0.0.1"])
    async with Egress(resolver=resolver) as egress:
        assert egress.check("https://hooks.example/x", require_https=True).host == "hooks.example"
        with pytest.raises(EgressRefused):
            egress.check("http://hooks.example/x", require_https=True)
    assert resolver.asked == []


async def test_a_driver_gets_checked_addresses_for_any_port():
    resolver = ScriptedResolver(["8.8.8.8", "8.8.4.4", "2606:4700::1111"], ["8.8.8.8", "10.0.0.1"])
    async with Egress(("db.lan", "127.0.0.0/8"), resolver=resolver) as egress:
        pinned = await egress.pin("DB.example", 5432)
        assert (pinned.host, pinned.port, pinned.address) == ("db.example", 5432, "8.8.8.8")
        assert pinned.addresses == ("8.8.8.8", "2606:4700::1111", "8.8.4.4")
        assert (await egress.pin("127.1", 22)).address == "127.0.0.1"
        assert (await egress.pin("2606:4700::1111", 25)).address == "2606:4700::1111"
        assert (await egress.pin("db.lan", 3306)).addresses == ("8.8.8.8", "10.0.0.1")
        for host in ("db.example", "10.0.0.1", "::1", "[::1]", "metadata", "a b", "", "user@db"):
            with pytest.raises(EgressRefused):
                await egress.pin(host, 5432)


async def test_tls_is_verified_for_the_name_although_an_address_is_connected_to(tmp_path):
    server_tls, trusted = certificate_for("api.example", tmp_path)
    asked = []
    server_tls.sni_callback = lambda _sock, name, _context: asked.append(name)
    resolver = ScriptedResolver(["127.0.0.2"])
    async with (
        listening(address="127.0.0.2", tls=server_tls) as server,
        Egress(OPEN, resolver=resolver, ca_bundle=trusted) as egress,
        Egress(OPEN, resolver=resolver) as distrusting,
    ):
        for _ in range(2):
            assert await call(egress, f"https://api.example:{server.port}/", require_https=True)
        assert await call(egress, f"https://127.0.0.2:{server.port}/")
        assert (server.connections, asked) == (2, ["api.example", None])
        for client, name in ((egress, "other.example"), (distrusting, "api.example")):
            with pytest.raises(EgressFailed, match="certificate"):
                await call(client, f"https://{name}:{server.port}/")
        assert len(server.heads) == 3


async def test_a_redirect_from_https_to_http_is_never_followed(tmp_path):
    server_tls, trusted = certificate_for("api.example", tmp_path)
    async with (
        listening(address="127.0.0.2") as plain,
        listening(reply(status=302, Location=plain.url), "127.0.0.2", tls=server_tls) as server,
        Egress(OPEN, ca_bundle=trusted) as egress,
    ):
        with pytest.raises(EgressRefused):
            await call(egress, f"https://127.0.0.2:{server.port}/", follow_redirects=3)
        assert plain.connections == 0


async def test_authorities_are_those_of_the_settings_and_of_the_system(tmp_path, monkeypatch):
    server_tls, trusted = certificate_for("api.example", tmp_path)
    allow = ("127.0.0.2",)
    async with listening(address="127.0.0.2", tls=server_tls) as server:
        url = f"https://127.0.0.2:{server.port}/"
        async with Egress.from_settings(Settings(egress_allow=allow, ca_bundle=trusted)) as egress:
            assert await call(egress, url) == (200, b"ok")
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        async with Egress.from_settings(Settings(), allow) as egress:
            assert await call(egress, url) == (200, b"ok")
