"""Tests of outcomes that are not recorded yet: few, since a fault repeats them, and never taken over."""

import asyncio
from typing import Any

import pytest

from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.jobs.recorder import OutcomeRecorder
from tests.kit import workshop as here
from tests.kit.workshop import Workshop

MANY = 40
# The concurrency of a lane of `wait_in_lane`, and what a lane may be ahead where recording is quick.
CONCURRENCY, QUICKLY_RECORDED = 2, 8


@pytest.mark.parametrize(
    ("took_s", "most"), [(0.0, QUICKLY_RECORDED), (5.0, CONCURRENCY)], ids=["quick", "slow"]
)
async def test_a_lane_is_never_far_ahead_of_what_is_recorded(
    live: Workshop, monkeypatch, took_s: float, most: int
):
    """The first outcomes show that the lane is quick; those after them are recorded when the test permits."""
    record, recorded, may_record = OutcomeRecorder.record, [], asyncio.Event()
    is_recorded = OutcomeRecorder.recorded

    async def record_late(self: OutcomeRecorder, unit: Any, outcomes: list[Any]) -> bool:
        if recorded:
            await may_record.wait()
        recorded.extend(outcomes)
        return await record(self, unit, outcomes)

    def took(self: OutcomeRecorder, outcomes: list[Any], _began: float) -> None:
        is_recorded(self, outcomes, asyncio.get_running_loop().time() - took_s)

    monkeypatch.setattr(OutcomeRecorder, "record", record_late)
    monkeypatch.setattr(OutcomeRecorder, "recorded", took)
    await live.ask(here.wait_in_lane, *["fast"] * MANY, lane="one")
    runner = live.runner()
    await runner.start()
    async with asyncio.timeout(here.PATIENCE_S):
        while not recorded or len(here.ran) < len(recorded) + most:
            await asyncio.sleep(0)
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(here.ran) == len(recorded) + most
        may_record.set()
        while await live.jobs():
            await asyncio.sleep(0.01)
    await runner.stop()
    assert len(here.ran) == MANY


async def test_an_outcome_that_waits_for_the_database_keeps_its_lease(workshop: Workshop, monkeypatch):
    """After an outage that was longer than a lease the first worker to return is not the one that did it."""
    record = OutcomeRecorder.record
    is_away = True

    async def record_when_there(self: OutcomeRecorder, unit: Any, outcomes: list[Any]) -> bool:
        if is_away:
            raise DatabaseUnavailable
        return await record(self, unit, outcomes)

    monkeypatch.setattr(OutcomeRecorder, "record", record_when_there)
    await workshop.ask(here.call_outside, "once")
    first, second = workshop.runner(), workshop.runner()
    await first.start()
    async with asyncio.timeout(here.PATIENCE_S):
        while not first._recorder.waiting:
            await asyncio.sleep(0.01)
        workshop.clock.advance(25)
        before = first._heartbeat_at
        while first._heartbeat_at == before:
            first._wake.set()
            await asyncio.sleep(0.01)
    workshop.clock.advance(25)
    await second.drain()
    is_away = False
    await first.stop()
    assert (workshop.instance.settings.data_dir / "outside").read_text() == "once\n"
    assert await workshop.jobs() == []


async def test_after_an_outage_every_worker_renews_its_leases_before_others_take_them(workshop: Workshop):
    await workshop.ask(here.wait_at_gate, "slow")
    busy, other = workshop.runner(), workshop.runner()
    turn = await busy._turn()
    assert len(turn.jobs) == 1
    workshop.clock.advance(60)
    other._trusts_leases_until = workshop.clock.monotonic() + 10
    assert (await other._turn()).jobs == []
    await workshop.change("UPDATE jobs SET lease_until = 0")
    assert len((await other._turn()).jobs) == 1, "whoever is known to be dead does not come back"


async def test_draining_records_what_a_lane_is_ahead(live: Workshop, monkeypatch):
    """Recording is slow here, so the lane has claimed more jobs than it may be ahead."""
    is_recorded = OutcomeRecorder.recorded

    def took_long(self: OutcomeRecorder, outcomes: list[Any], _began: float) -> None:
        is_recorded(self, outcomes, asyncio.get_running_loop().time() - 5.0)

    monkeypatch.setattr(OutcomeRecorder, "recorded", took_long)
    await live.ask(here.wait_in_lane, *["fast"] * MANY, lane="one")
    async with asyncio.timeout(here.PATIENCE_S):
        assert await live.runner().drain() == MANY
