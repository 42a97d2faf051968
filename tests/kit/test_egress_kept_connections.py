"""Connections are kept for their name, for as long as we and the server like."""

import asyncio

import pytest

from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, pool
from retinue.kit.settings import LOOPBACK
from tests.kit.egress_listener import ScriptedResolver, listening, listening_at_both, reply

OPEN = ("127.0.0.2/32",)


async def call(egress, url, method="GET", timeout_s=5):
    async with egress.request(method, url, timeout_s=timeout_s) as response:
        return response.status, await response.read()


async def test_a_busy_connection_is_replaced_in_time_to_follow_its_name(monkeypatch):
    monkeypatch.setattr(pool, "_MAX_AGE_SECONDS", 0)
    resolver = ScriptedResolver(["127.0.0.2"], ["127.0.0.3"])
    async with (
        Egress(("127.0.0.0/29",), resolver=resolver) as egress,
        listening_at_both(second="127.0.0.3") as (before, after),
    ):
        for _ in range(2):
            assert await call(egress, f"http://moving.example:{before.port}/") == (200, b"ok")
        assert (before.connections, after.connections) == (1, 1)


async def test_a_kept_connection_is_not_shared_between_names():
    resolver = ScriptedResolver(["127.0.0.2"])
    async with Egress(OPEN, resolver=resolver) as egress, listening(address="127.0.0.2") as server:
        for name in ("a.example", "b.example", "a.example"):
            await call(egress, f"http://{name}:{server.port}/")
        assert server.connections == 2


async def test_only_so_many_connections_are_kept_and_the_oldest_go_first(monkeypatch):
    monkeypatch.setattr(pool, "_MAX_IDLE_CONNECTIONS", 2)
    resolver = ScriptedResolver(["127.0.0.2"])
    async with Egress(OPEN, resolver=resolver) as egress, listening(address="127.0.0.2") as server:
        for name in ("a.example", "b.example", "c.example", "c.example", "b.example"):
            await call(egress, f"http://{name}:{server.port}/")
        assert server.connections == 3
        await call(egress, f"http://a.example:{server.port}/")
        assert server.connections == 4


@pytest.mark.parametrize(
    ("announced", "idle_s"),
    [
        ("timeout=5", 4),
        ("timeout=5, max=100", 4),
        ("max=100, Timeout = 7", 6),
        ("timeout=600", 15),
        ("timeout=999999999999999999", 15),
        ("timeout=soon", 15),
        ("max=3", 15),
        ("x-timeout=2", 15),
        ("", 15),
    ],
)
async def test_a_server_says_how_long_a_connection_may_be_idle(announced, idle_s):
    async with Egress(LOOPBACK) as egress, listening(reply(Keep_Alive=announced)) as server:
        await call(egress, server.url)
        ((idle,),) = egress._pool._idle.values()
        assert idle.kept_until - idle.loop.time() == pytest.approx(idle_s, abs=1)
        await call(egress, server.url)
        assert server.connections == 1
        idle.kept_until = idle.loop.time()
        await call(egress, server.url)
        assert server.connections == 2


@pytest.mark.parametrize("seconds", [0, 1])
async def test_a_connection_that_the_server_is_about_to_close_is_not_kept(seconds):
    async with Egress(LOOPBACK) as egress, listening(reply(Keep_Alive=f"timeout={seconds}")) as server:
        for _ in range(2):
            assert await call(egress, server.url, "POST") == (200, b"ok")
        assert server.connections == 2


@pytest.mark.parametrize(("method", "is_asked_again"), [("GET", True), ("PUT", True), ("POST", False)])
async def test_only_what_may_be_repeated_is_asked_again_when_a_kept_connection_is_dead(
    method, is_asked_again
):
    async def answer_once(writer):
        writer.write(reply())
        await writer.drain()
        await asyncio.wait_for(second.wait(), 5)

    second = asyncio.Event()
    async with Egress(LOOPBACK) as egress, listening(answer_once) as server:
        assert await call(egress, server.url) == (200, b"ok")
        asking = asyncio.create_task(call(egress, server.url, method))
        await asyncio.sleep(0.05)
        second.set()
        if is_asked_again:
            assert await asking == (200, b"ok")
        else:
            with pytest.raises(EgressFailed):
                await asking
        assert server.connections == 1 + is_asked_again


@pytest.mark.parametrize(
    ("first_s", "second_s", "answer_s", "is_in_time"),
    [(60, 0.1, 30, False), (0.1, 60, 0.3, True), (0.1, 0.3, 30, False), (0.1, 0.1, 0, True)],
)
async def test_each_call_on_a_kept_connection_has_its_own_deadline(first_s, second_s, answer_s, is_in_time):
    async def answer(writer):
        if len(server.heads) == 2:
            await asyncio.sleep(answer_s)
        writer.write(reply())
        await writer.drain()

    async with Egress(LOOPBACK) as egress, listening(answer) as server:
        server.hangs_up = False
        await call(egress, server.url, timeout_s=first_s)
        async with asyncio.timeout(10):
            if is_in_time:
                assert await call(egress, server.url, timeout_s=second_s) == (200, b"ok")
            else:
                with pytest.raises(EgressTimeout):
                    await call(egress, server.url, timeout_s=second_s)
        assert (server.connections, len(server.heads)) == (1, 2)
