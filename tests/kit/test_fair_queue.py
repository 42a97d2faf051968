"""Few places for many: tenants take turns, then kinds of callers, then callers."""

import asyncio
from collections.abc import Callable

import pytest

from retinue.kit.fair_queue import CallerClass, FairQueue, QueuedCaller, QueueFull
from retinue.kit.single_flight import SingleFlight


class Line:
    """A queue of one place, which is taken, and those who wait for it."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.served: list[str] = []
        self.waiting: list[asyncio.Task[None]] = []

    async def occupied(self, *requesters: QueuedCaller) -> list[Callable[[], None]]:
        return [await self.queue.enter(requester) for requester in requesters]

    async def join(self, name: str, requester: QueuedCaller) -> None:
        async def wait() -> None:
            leave = await self.queue.enter(requester)
            self.served.append(name)
            leave()

        self.waiting.append(asyncio.create_task(wait()))
        await asyncio.sleep(0)

    async def empty(self) -> list[str]:
        await asyncio.gather(*self.waiting)
        assert self.queue.waiting == 0
        return self.served


def make_caller(tenant: str, kind: CallerClass = "member", caller: str = "") -> QueuedCaller:
    return QueuedCaller(tenant, kind, caller)


async def test_tenants_take_turns() -> None:
    line = Line(FairQueue(1, max_waiting=10))
    [leave] = await line.occupied(make_caller("busy"))
    for number in range(3):
        await line.join(f"busy {number}", make_caller("busy"))
    await line.join("other", make_caller("other"))
    await line.join("third", make_caller("third"))
    leave()
    assert await line.empty() == ["busy 0", "other", "third", "busy 1", "busy 2"]


async def test_kinds_of_callers_take_turns_inside_a_tenant_and_so_do_callers() -> None:
    line = Line(FairQueue(1, max_waiting=10))
    [leave] = await line.occupied(make_caller("acme", "visitor"))
    for number in range(3):
        await line.join(f"flood {number}", make_caller("acme", "visitor", "203.0.113.1"))
    await line.join("visitor", make_caller("acme", "visitor", "203.0.113.2"))
    await line.join("member", make_caller("acme"))
    await line.join("account", make_caller("acme", "service_account"))
    leave()
    assert await line.empty() == ["flood 0", "member", "account", "visitor", "flood 1", "flood 2"]


async def test_a_kind_of_callers_never_holds_all_places() -> None:
    line = Line(FairQueue(2, max_waiting=10, max_places_by_class={"job": 1}))
    [leave] = await line.occupied(make_caller("acme", "job"))
    await line.join("second job", make_caller("other", "job"))
    await line.join("member", make_caller("acme"))
    await asyncio.sleep(0)
    assert line.served == ["member"]
    leave()
    assert await line.empty() == ["member", "second job"]


async def test_a_full_line_of_one_tenant_refuses_nobody_else() -> None:
    line = Line(FairQueue(1, max_waiting=1))
    [leave] = await line.occupied(make_caller("acme"))
    await line.join("waits", make_caller("acme"))
    with pytest.raises(QueueFull):
        await line.queue.enter(make_caller("acme"))
    await line.join("other", make_caller("other"))
    leave()
    assert await line.empty() == ["waits", "other"]


async def test_who_leaves_the_line_frees_it() -> None:
    line = Line(FairQueue(1, max_waiting=1))
    [leave] = await line.occupied(make_caller("acme"))
    await line.join("gone", make_caller("acme"))
    line.waiting.pop().cancel()
    await asyncio.sleep(0)
    await line.join("next", make_caller("acme"))
    leave()
    assert await line.empty() == ["next"]


async def test_a_place_granted_at_the_moment_of_cancellation_goes_on() -> None:
    line = Line(FairQueue(1, max_waiting=5))
    [leave] = await line.occupied(make_caller("a"))
    await line.join("gone", make_caller("b"))
    await line.join("next", make_caller("c"))
    leave()
    line.waiting.pop(0).cancel()
    assert await line.empty() == ["next"]


async def test_a_place_released_between_a_cancellation_and_its_notice_is_not_lost() -> None:
    line = Line(FairQueue(1, max_waiting=5))
    [leave] = await line.occupied(make_caller("a"))
    await line.join("gone", make_caller("b"))
    gone = line.waiting.pop()
    gone.cancel()
    leave()
    with pytest.raises(asyncio.CancelledError):
        await gone
    await line.join("next", make_caller("c"))
    assert await line.empty() == ["next"]


async def test_equal_work_is_done_once_and_its_error_is_everybodys() -> None:
    flights: SingleFlight[int] = SingleFlight()
    begun, gate = [], asyncio.Event()

    async def work() -> int:
        begun.append(1)
        await gate.wait()
        if len(begun) > 1:
            raise ValueError("the second run fails")
        return 7

    first = [asyncio.create_task(flights.run("key", work)) for _ in range(3)]
    await asyncio.sleep(0)
    first[0].cancel()
    gate.set()
    assert await asyncio.gather(*first[1:]) == [7, 7]
    assert len(begun) == 1
    outcomes = await asyncio.gather(*(flights.run("key", work) for _ in range(2)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ValueError, ValueError]
    assert len(begun) == 2


async def test_work_that_nobody_waits_for_is_cancelled() -> None:
    flights: SingleFlight[None] = SingleFlight()
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    only = asyncio.create_task(flights.run("key", work))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    only.cancel()
    async with asyncio.timeout(10):
        await ended.wait()


async def test_a_run_that_is_being_cancelled_is_nobodys_result() -> None:
    flights: SingleFlight[int] = SingleFlight()
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def abandoned() -> int:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await may_end.wait()
        return 1

    async def fresh() -> int:
        return 2

    first = asyncio.create_task(flights.run("key", abandoned))
    await begun.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await flights.run("key", fresh) == 2
    may_end.set()
