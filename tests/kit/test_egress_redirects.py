import asyncio

import pytest

from retinue.kit.egress import Egress, EgressFailed, EgressRefused
from tests.kit.egress_listener import ScriptedResolver, listening, listening_at_both, reply
from tests.kit.egress_targets import REFUSED_HOSTS

OPEN = ("127.0.0.2/32", "127.0.0.3/32")
REDIRECTS = (301, 302, 303, 307, 308)


async def call(egress, url, method="GET", **options):
    async with egress.request(method, url, timeout_s=5, **options) as response:
        return response.status, await response.read()


def redirect(location: str, status: int = 302, **headers: str) -> bytes:
    return reply(b"", status, Location=location, **headers)


@pytest.fixture
async def rig():
    """An egress that may reach 127.0.0.2 and 127.0.0.3, and a trap at 127.0.0.1."""
    async with Egress(OPEN) as egress, listening() as trap:
        yield egress, trap
        assert trap.connections == 0


@pytest.mark.parametrize("host", [host for host in REFUSED_HOSTS if host.isascii()])
async def test_a_redirect_to_an_inner_address_is_refused(rig, host):
    egress, trap = rig
    for status in REDIRECTS:
        for location in (f"http://{host}:{trap.port}/", f"//{host}:{trap.port}/x"):
            async with listening(redirect(location, status), "127.0.0.2") as server:
                with pytest.raises(EgressRefused):
                    await call(egress, server.url, follow_redirects=3)
                assert len(server.heads) == 1


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.2/",
        "http://127.0.0.2\\@127.0.0.1/",
        "\\\\127.0.0.1/",
        "/\\127.0.0.1/",
        "http:///x",
        "http://user@127.0.0.2/",
        "http://ⓔxample.com/",
        "http://example.com:6379/",
        "http://a b/",
        "http:127.0.0.1",
        "http:/x",
        "/a\tb",
        "ht\ttp://example.com/",
    ],
)
async def test_a_redirect_to_a_malformed_url_is_refused(rig, location):
    raw = b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: " + location.encode() + b"\r\n\r\n"
    async with listening(raw, "127.0.0.2") as server:
        with pytest.raises(EgressRefused):
            await call(rig[0], server.url, follow_redirects=3)


async def test_redirects_are_answers_unless_asked_for(rig):
    egress, trap = rig
    for status in REDIRECTS:
        async with listening(redirect(trap.url, status), "127.0.0.2") as server:
            assert await call(egress, server.url) == (status, b"")


async def test_refresh_headers_and_pages_are_never_followed(rig):
    egress, trap = rig
    page = f'<meta http-equiv="refresh" content="0;url={trap.url}">'.encode()
    async with listening(
        reply(page, 200, Refresh=f"0; url={trap.url}", Location=trap.url), "127.0.0.2"
    ) as server:
        assert await call(egress, server.url, follow_redirects=3) == (200, page)


async def test_a_redirect_without_a_location_is_an_answer(rig):
    async with listening(reply(b"x", 302), "127.0.0.2") as server:
        assert await call(rig[0], server.url, follow_redirects=3) == (302, b"x")


@pytest.mark.parametrize("allowed", [1, 2, 3])
async def test_a_redirect_loop_ends_at_the_number_allowed(rig, allowed):
    async with listening(redirect("/again"), "127.0.0.2") as server:
        with pytest.raises(EgressFailed, match="too many times"):
            await call(rig[0], server.url, follow_redirects=allowed)
        assert len(server.heads) == allowed + 1


async def test_twenty_hops_cannot_be_asked_for(rig):
    with pytest.raises(ValueError, match="at most 5"):
        await call(rig[0], "http://127.0.0.2/", follow_redirects=20)


@pytest.mark.parametrize(
    ("location", "path"),
    [("/new?x=1", "/new?x=1"), ("other", "/base/other"), ("?q", "/base/start?q"), ("../up", "/up")],
)
async def test_a_relative_redirect_stays_with_its_host_and_keeps_the_headers(rig, location, path):
    async def once(writer):
        writer.write(redirect(location, Connection="close") if len(server.heads) == 1 else reply())
        await writer.drain()

    headers = {"Authorization": "Bearer x", "X-API-Key": "k"}
    async with listening(once, "127.0.0.2") as server:
        assert await call(rig[0], f"{server.url}/base/start", headers=headers, follow_redirects=1) == (
            200,
            b"ok",
        )
        assert server.heads[1].split(" ")[1] == path
        assert "Bearer x" in server.heads[1]


async def test_credentials_are_dropped_on_the_way_to_another_origin(rig):
    secret = {"Authorization": "s1", "Cookie": "s2", "X-API-Key": "s3", "api-key": "s4", "Accept": "a/b"}
    secret["X-Service-Hops"] = "3"
    async with (
        listening(address="127.0.0.3") as other,
        listening(redirect(other.url), "127.0.0.2") as server,
        listening(address="127.0.0.2") as other_port,
        listening(redirect(other_port.url), "127.0.0.2") as same_host,
    ):
        for first, second in ((server, other), (same_host, other_port)):
            await call(rig[0], first.url, headers=secret, follow_redirects=1)
            assert all(value in first.heads[0] for value in secret.values())
            assert not any(value in second.heads[0] for value in ("s1", "s2", "s3", "s4"))
            assert "Accept: a/b" in second.heads[0]
            assert "X-Service-Hops: 3" in second.heads[0], "a chain must not begin anew on its way"


async def test_cookies_a_destination_sets_are_not_kept(rig):
    async with listening(reply(Set_Cookie="a=b"), "127.0.0.2") as server:
        await call(rig[0], server.url)
        await call(rig[0], server.url)
        assert not any("Cookie" in head for head in server.heads)


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [
        (301, "GET", b""),
        (302, "GET", b""),
        (303, "GET", b""),
        (307, "POST", b"payload"),
        (308, "POST", b"payload"),
    ],
)
async def test_the_method_and_body_after_a_redirect_follow_the_standard(rig, status, method, body):
    async with (
        listening(address="127.0.0.3") as target,
        listening(redirect(target.url, status), "127.0.0.2") as server,
    ):
        options = {"content": b"payload", "headers": {"Content-Type": "x/y"}, "follow_redirects": 1}
        await call(rig[0], server.url, "POST", **options)
        assert (target.heads[0].split(" ")[0], target.bodies[0]) == (method, body)
        assert ("x/y" in target.heads[0]) == bool(body)


async def test_every_hop_is_resolved_and_judged_anew():
    resolver = ScriptedResolver(["127.0.0.2"], ["127.0.0.1"])
    async with listening_at_both(redirect("/again")) as (server, trap):
        async with Egress(OPEN, resolver=resolver) as egress:
            with pytest.raises(EgressRefused):
                await call(egress, f"http://turning.example:{server.port}/", follow_redirects=3)
        assert resolver.asked == ["turning.example"] * 2
        assert (len(server.heads), trap.connections) == (1, 0)


async def test_https_stays_required_after_a_redirect():
    resolver = ScriptedResolver(["127.0.0.2"])
    allow = ("start.example", "127.0.0.2/32")
    async with listening(redirect("http://plain.example/"), "127.0.0.2") as server:
        async with Egress(allow, resolver=resolver) as egress:
            url = f"http://start.example:{server.port}/"
            with pytest.raises(EgressRefused) as caught:
                await call(egress, url, follow_redirects=1, require_https=True)
        assert caught.value.reason == "https_required"


async def test_the_wall_time_covers_all_hops():
    async def slowly(writer):
        await asyncio.sleep(0.1)
        writer.write(redirect("/again", Connection="close"))
        await writer.drain()

    async with listening(slowly, "127.0.0.2") as server, Egress(OPEN) as egress:
        with pytest.raises(Exception, match="in time"):
            async with egress.request("GET", server.url, timeout_s=0.3, follow_redirects=3):
                raise AssertionError("there is no answer to give")
        assert len(server.heads) < 4
