"""Tests of a tool's HTTP calls: retries, timeouts and redirects."""

import asyncio
from email.utils import formatdate

import pytest

from retinue.tools.executors import http_call
from tests.kit.egress_listener import listening, reply
from tests.tools.servers.rest_api import scripted_config

pytestmark = pytest.mark.either_database


@pytest.fixture
def pauses(monkeypatch):
    """The pauses between attempts, which take no time here."""
    taken: list[float] = []

    async def pause(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr(http_call, "wait_before_retry", pause)
    return taken


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_passing_failure_is_tried_again(tools, remote, pauses, status):
    remote.answers = [(status, {}, b""), (status, {}, b""), (200, {}, b"done")]
    done = await tools.run("rest_api", scripted_config(remote, retry_count=3))
    assert (done["status"], done["attempts"], done["output"]["body"]) == ("completed", 3, "done")
    assert 0.375 <= pauses[0] <= 0.625
    assert 0.75 <= pauses[1] <= 1.25


async def test_retries_end_with_the_last_answer(tools, remote, pauses):
    remote.answers = [(503, {}, b"1"), (502, {}, b"2"), (429, {}, b"3")]
    done = await tools.run("rest_api", scripted_config(remote, retry_count=2))
    assert (done["status"], done["attempts"], len(pauses)) == ("failed", 3, 2)
    assert done["error"]["details"]["body"] == "3"


async def test_nothing_is_tried_again_unless_configured(tools, remote, pauses):
    remote.answers = [(503, {}, b"")]
    done = await tools.run("rest_api", scripted_config(remote))
    assert (done["error"]["code"], done["attempts"], pauses) == ("http_error", 1, [])


@pytest.mark.parametrize(
    ("method", "unsafe", "attempts"),
    [
        ("GET", False, 2),
        ("PUT", False, 2),
        ("DELETE", False, 2),
        ("POST", False, 1),
        ("PATCH", False, 1),
        ("POST", True, 2),
    ],
)
async def test_only_what_may_happen_twice_is_tried_again(tools, remote, pauses, method, unsafe, attempts):
    remote.answers = [(503, {}, b""), (200, {}, b"")]
    done = await tools.run("rest_api", scripted_config(remote, method, retry_count=1, retry_unsafe=unsafe))
    assert (done["attempts"], len(remote.seen)) == (attempts, attempts)


async def test_a_connection_that_breaks_is_tried_again(tools, remote, pauses):
    # The HTTP library repeats a GET once by itself when a connection breaks, so that it is not counted here.
    config = {"url": f"{remote.url}/broken", "retry_count": 2, "retry_unsafe": True}
    remote.answers = [(0, {}, b"")] * 2
    done = await tools.run("webhook", config)
    assert (done["status"], done["attempts"]) == ("completed", 3)
    remote.answers = [(0, {}, b"")] * 9
    done = await tools.run("webhook", config)
    assert (done["error"]["code"], done["attempts"]) == ("network_error", 3)


async def test_a_destination_that_is_not_there_is_a_network_error(tools, pauses):
    async with listening() as gone:
        url = gone.url
    done = await tools.run("webhook", {"url": url, "retry_count": 1, "method": "GET"})
    assert (done["error"]["code"], done["attempts"]) == ("network_error", 2)


async def test_retry_after_is_honoured(tools, remote, pauses, clock):
    # The destination's clock is an hour behind ours.
    sent, until = (formatdate(clock.time() - 3600 + seconds, usegmt=True) for seconds in (0, 7))
    remote.answers = [
        (429, {"Retry-After": "3"}, b""),
        (429, {"Retry-After": until, "Date": sent}, b""),
        (429, {"Retry-After": until, "Date": "unknown"}, b""),
        (429, {"Retry-After": "soon"}, b""),
        (429, {"Retry-After-Ms": "1500"}, b""),
        (429, {"Retry-After": "Mon, 01 Jan 0001 00:00:00 +2359"}, b""),
    ]
    first = await tools.run("rest_api", scripted_config(remote, retry_count=3))
    assert (first["attempts"], first["status"]) == (4, "failed")
    assert pauses == [3, 7, 0]
    second = await tools.run("rest_api", scripted_config(remote, retry_count=3))
    assert second["attempts"] == 3
    assert pauses[3:] == [1.5, 0]


@pytest.mark.parametrize("wait", ["31", "1000000000", "9" * 400])
async def test_what_asks_for_more_time_than_there_is_is_not_waited_for(tools, remote, pauses, wait):
    remote.answers = [(429, {"Retry-After": wait}, b"later")]
    done = await tools.run("rest_api", scripted_config(remote, retry_count=3))
    assert (done["status"], done["error"]["code"], done["attempts"]) == ("failed", "http_error", 1)
    assert pauses == []


async def test_a_call_that_takes_too_long_ends_in_a_timeout(tools, remote):
    config = {
        "base_url": remote.url,
        "endpoints": {"x": {"path": "/hanging"}},
        "timeout_ms": 80,
        "retry_count": 3,
    }
    done = await tools.run("rest_api", config)
    assert (done["status"], done["error"]["code"], len(remote.seen)) == ("timeout", "timeout", 1)


async def test_a_body_that_stops_coming_ends_in_a_timeout(tools):
    async def stall(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab")
        await writer.drain()
        await asyncio.Event().wait()

    async with listening(stall) as server:
        done = await tools.run("webhook", {"url": server.url, "timeout_ms": 80})
    assert done["status"] == "timeout"


async def test_an_answer_larger_than_a_mebibyte_is_cut_off(tools):
    async def flood(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await server.flood(writer, b"10000\r\n" + b"x" * 0x10000 + b"\r\n", most=100 * 1024 * 1024)

    async with listening(flood) as server:
        done = await tools.run("webhook", {"url": server.url})
        assert done["error"]["code"] == "output_too_large"
        assert server.sent < 20 * 1024 * 1024


async def test_redirects_are_answers_unless_followed_on_request(tools, remote):
    moved = (302, {"Location": f"{remote.url}/there"}, b"")
    remote.answers = [moved]
    assert (await tools.run("rest_api", scripted_config(remote)))["error"]["details"]["status_code"] == 302
    remote.answers = [moved]
    done = await tools.run("rest_api", scripted_config(remote, follow_redirects=True))
    assert done["output"]["body"]["target"] == "/there"
    remote.answers = [(302, {"Location": f"{remote.url}/scripted"}, b"")] * 9
    done = await tools.run("rest_api", scripted_config(remote, follow_redirects=True))
    assert (done["error"]["code"], len(remote.answers)) == ("network_error", 5)


async def test_a_redirect_to_another_host_takes_no_secret_along(tools, remote):
    async with listening(reply(b"elsewhere"), "127.0.0.2") as other:
        remote.answers = [(307, {"Location": f"{other.url}/"}, b"")]
        done = await tools.run(
            "rest_api",
            scripted_config(remote, follow_redirects=True),
            auth_type="custom",
            auth_config={"headers": {"X-Key": "sk-4711-secret"}, "query": {"k": "sk-0815-secret"}},
        )
        assert done["output"]["body"] == "elsewhere"
        assert remote.last.headers["X-Key"] == "sk-4711-secret"
        assert "secret" not in other.heads[0]
