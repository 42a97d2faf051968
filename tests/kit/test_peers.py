"""Limits, leases and topics that several processes share through their supervisor."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from retinue.kit.clock import SystemClock
from retinue.kit.limits import PLANS, Limiter, MemoryStore
from retinue.kit.peers import FirstReport
from retinue.kit.peers.keeper import Keeper, Member
from retinue.kit.peers.link import PeerLink
from retinue.kit.peers.packets import MAX_PACKET_BYTES, packet_pair

pytestmark = pytest.mark.either_database

FREE = PLANS["free"]


class Machine:
    """A keeper with some processes, all on this event loop."""

    def __init__(self) -> None:
        self.keeper = Keeper(SystemClock())
        self.links: list[PeerLink] = []
        self.members: list[Member] = []

    def join(self) -> PeerLink:
        ours, theirs = packet_pair()
        member = self.keeper.join(ours, len(self.links))
        link = PeerLink(theirs, slot=len(self.links), expected=2, opened_at="2026-01-01T00:00:00.000000Z")
        self.members.append(member)
        self.links.append(link)
        return link

    def limiter(self, link: PeerLink) -> Limiter:
        return Limiter(MemoryStore(SystemClock()), link.limits, burst=False)


@asynccontextmanager
async def machine(processes: int = 2) -> AsyncIterator[Machine]:
    made = Machine()
    for _ in range(processes):
        made.join()
    yield made
    made.keeper.close()
    for link in made.links:
        if not link.is_closed:
            link.close()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends share one event loop, on a machine that may be busy."""
    monkeypatch.setattr("retinue.kit.peers.link.CALL_SECONDS", 60)


async def wait_until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.001)


async def test_processes_share_the_windows_of_a_plan() -> None:
    async with machine() as shared:
        one, other = map(shared.limiter, shared.links)
        decisions = [await limiter.hit("ten_1", FREE, 1) for _ in range(40) for limiter in (one, other)]
        assert [decision.allowed for decision in decisions] == [True] * 60 + [False] * 20
        assert [decision.remaining for decision in decisions[:60]] == list(range(59, -1, -1))
        assert decisions[-1].retry_after > 0
        assert (await one.used("ten_1")).minute == 60
        assert (await other.hit("ten_2", FREE, 1)).allowed


async def test_processes_share_a_throttle_by_its_window() -> None:
    async with machine() as shared:
        one, other = map(shared.limiter, shared.links)
        assert (await one.hit_window("mail", 1, 60)).allowed
        assert not (await other.hit_window("mail", 1, 60)).allowed
        assert (await other.hit_window("mail", 1, 3600)).allowed
        assert (await other.hit_window("m" * 5000, 1, 60)).allowed
        assert not (await one.hit_window("m" * 5000, 1, 60)).allowed


async def test_slots_of_a_process_end_with_it() -> None:
    async with machine() as shared:
        one, other = map(shared.limiter, shared.links)
        held = [await one.hold("turns", 2, 60) for _ in range(2)]
        assert all(held)
        assert await other.hold("turns", 2, 60) is None
        shared.links[0].close()
        await wait_until(lambda: shared.links[1].alive == 0 and len(shared.keeper._members) == 1)
        lease = await other.hold("turns", 2, 60)
        assert lease is not None
        assert await other.hold("turns", 2, 60) is not None
        assert await other.hold("turns", 2, 60) is None
        await lease.release()
        assert await other.hold("turns", 2, 60) is not None


async def test_many_calls_at_once_are_answered_each() -> None:
    """More than fit into one packet, in both directions."""
    async with machine() as shared:
        limits = shared.links[0].limits
        assert limits is not None
        keys = [f"{number:0200}" for number in range(2000)]
        assert sum(len(key) for key in keys) > MAX_PACKET_BYTES
        decisions = await asyncio.gather(*(limits.hit_window(key, 5, 60) for key in keys))
        assert {decision.remaining for decision in decisions} == {4}


async def test_a_topic_reaches_the_other_processes_only() -> None:
    async with machine(3) as shared:
        heard: list[tuple[int, str]] = []
        for number, link in enumerate(shared.links):
            link.subscribe("changed", lambda key, number=number: heard.append((number, key)))  # type: ignore[misc]
        shared.links[1].publish("changed", "a", "b")
        await wait_until(lambda: len(heard) == 4)
        assert sorted(heard) == [(0, "a"), (0, "b"), (2, "a"), (2, "b")]


async def test_every_process_knows_how_many_serve_and_how_the_worker_does() -> None:
    async with machine() as shared:
        one, other = shared.links
        one.report_ready()
        one.report(FirstReport("ok", {"node": "ok"}))
        other.report(FirstReport("failing"))
        await wait_until(lambda: (other.alive, other.first_report) == (1, FirstReport("ok", {"node": "ok"})))
        other.report_ready()
        await wait_until(lambda: (one.alive, other.alive) == (2, 2))
        drained = asyncio.Event()
        one.when_drained = drained.set
        shared.keeper.drain(shared.members[0])
        await asyncio.wait_for(drained.wait(), 10)
        await wait_until(lambda: (other.alive, other.first_report) == (1, FirstReport("stalled")))


async def test_without_its_supervisor_a_process_limits_by_itself() -> None:
    async with machine(1) as shared:
        limiter, lost = shared.limiter(shared.links[0]), asyncio.Event()
        shared.links[0].when_lost = lost.set
        assert (await limiter.hit("ten_1", FREE, 1)).remaining == 59
        shared.keeper.close()
        await asyncio.wait_for(lost.wait(), 10)
        assert (await limiter.hit("ten_1", FREE, 1)).remaining == 59


async def test_a_silent_supervisor_delays_only_the_first_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retinue.kit.peers.link.CALL_SECONDS", 0.01)
    ours, theirs = packet_pair()
    link = PeerLink(theirs, expected=2, opened_at="")
    limiter = Limiter(MemoryStore(SystemClock()), link.limits, burst=False)
    assert (await limiter.hit("ten_1", FREE, 1)).remaining == 59
    assert not link._calls
    assert (await limiter.hit("ten_1", FREE, 1)).remaining == 58
    assert not link._calls
    link.close()
    ours.close()


@pytest.mark.parametrize("has_name", [True, False], ids=["refused", "missing"])
async def test_without_packet_sockets_streams_carry_the_packets(
    monkeypatch: pytest.MonkeyPatch, has_name: bool
) -> None:
    """On macOS the name exists, but such a pair is refused."""
    make_pair = socket.socketpair

    def refuse(family: int, kind: int) -> tuple[socket.socket, socket.socket]:
        if kind != socket.SOCK_STREAM:
            raise OSError("not supported")
        return make_pair(family, kind)

    monkeypatch.setattr(socket, "socketpair", refuse)
    if not has_name:
        monkeypatch.delattr(socket, "SOCK_SEQPACKET")
    async with machine() as shared:
        one, other = map(shared.limiter, shared.links)
        keys = [f"{number:0200}" for number in range(2000)]
        await asyncio.gather(*(one.hit_window(key, 1, 60) for key in keys))
        decisions = await asyncio.gather(*(other.hit_window(key, 1, 60) for key in keys))
        assert not any(decision.allowed for decision in decisions)
