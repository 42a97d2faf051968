"""A dead address of a name costs a quarter of a second, and only checked addresses are tried."""

import asyncio
import contextlib
import socket
import time

import pytest

from retinue.kit.egress import Egress, EgressFailed
from retinue.kit.egress.happy_eyeballs import connect_socket, connect_to_first
from tests.kit.egress_listener import ScriptedResolver, listening

OPEN = ("127.0.0.0/29", "::1")


@contextlib.contextmanager
def dead_address(address, port):
    """An address that never answers: the backlog of its only listener is full."""
    with socket.socket() as server, socket.socket() as first, socket.socket() as second:
        server.bind((address, port))
        server.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(server.getsockname())
        yield


async def call(egress, url, **options):
    async with egress.request("GET", url, timeout_s=5, **options) as response:
        return response.status, await response.read()


class Attempts:
    """Connections that succeed, fail or hang by their name, and what became of them."""

    def __init__(self):
        self.started: list[str] = []
        self.made: dict[str, socket.socket] = {}
        self.release = asyncio.Event()

    async def connect(self, address):
        self.started.append(address)
        if address.startswith("hangs"):
            await self.release.wait()
        if address.startswith("fails"):
            raise ConnectionRefusedError(address)
        self.made[address] = socket.socket()
        return self.made[address]


@pytest.fixture
def attempts():
    made = Attempts()
    yield made
    for connection in made.made.values():
        connection.close()


@pytest.mark.parametrize(
    ("addresses", "started", "winner"),
    [
        (["a"], ["a"], "a"),
        (["a", "b"], ["a"], "a"),
        (["fails", "b", "c"], ["fails", "b"], "b"),
        (["hangs", "b"], ["hangs", "b"], "b"),
        (["hangs", "fails", "hangs2", "d"], ["hangs", "fails", "hangs2", "d"], "d"),
    ],
)
async def test_the_first_that_answers_wins(attempts, addresses, started, winner):
    won = await connect_to_first(addresses, attempts.connect, 0.01)
    assert (attempts.started, won) == (started, attempts.made[winner])
    assert won.fileno() != -1


async def test_a_failed_attempt_is_followed_at_once_by_the_next(attempts):
    async with asyncio.timeout(5):
        await connect_to_first(["fails", "fails2", "c"], attempts.connect, 60)


async def test_if_all_fail_the_error_of_the_last_is_raised(attempts):
    with pytest.raises(ConnectionRefusedError, match="fails2"):
        await connect_to_first(["fails", "fails2"], attempts.connect)


async def test_who_comes_second_is_closed():
    made = []

    async def connect(_address):
        await asyncio.sleep(0.01)
        made.append(socket.socket())
        return made[-1]

    won = await connect_to_first("abc", connect, 0)
    await asyncio.sleep(0.02)
    assert [connection for connection in made if connection.fileno() != -1] == [won]
    won.close()


async def test_nothing_stays_open_when_the_caller_leaves(attempts):
    racing = asyncio.create_task(connect_to_first(["hangs", "hangs2"], attempts.connect, 0.001))
    while len(attempts.started) < 2:
        await asyncio.sleep(0.001)
    # Both connections are made in the moment in which the caller leaves.
    attempts.release.set()
    await asyncio.sleep(0)
    racing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await racing
    await asyncio.sleep(0)
    assert [connection.fileno() for connection in attempts.made.values()] == [-1] * len(attempts.made)


async def test_a_dead_first_address_costs_a_quarter_of_a_second():
    resolver = ScriptedResolver(["127.0.0.3", "127.0.0.2"])
    async with Egress(OPEN, resolver=resolver) as egress, listening(address="127.0.0.2") as server:
        with dead_address("127.0.0.3", server.port):
            before = time.monotonic()
            assert await call(egress, f"http://half-dead.example:{server.port}/") == (200, b"ok")
            assert 0.2 < time.monotonic() - before < 2


async def test_families_take_turns_so_that_a_broken_one_is_left_at_once():
    resolver = ScriptedResolver(["::1", "::1", "127.0.0.3", "127.0.0.2"])
    async with Egress(OPEN, resolver=resolver) as egress, listening(address="127.0.0.3") as server:
        assert await call(egress, f"http://dual.example:{server.port}/") == (200, b"ok")
        assert (await egress.pin("dual.example", 1)).addresses == ("::1", "127.0.0.3", "::1", "127.0.0.2")


async def test_only_a_few_addresses_are_tried():
    resolver = ScriptedResolver(["127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.2"])
    async with Egress(OPEN, resolver=resolver) as egress, listening(address="127.0.0.2") as server:
        with pytest.raises(EgressFailed):
            await call(egress, f"http://many.example:{server.port}/")
        assert server.connections == 0


async def test_outgoing_connections_are_kept_alive_by_the_kernel():
    async with listening() as server:
        connected = await connect_socket("127.0.0.1", server.port)
        with connected:
            assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 45
