"""Jobs whose attempts are written down by many, with the end of the job."""

import asyncio
from typing import Any

import pytest

from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.jobs import recorder
from retinue.kit.jobs.conclude_hooks import Concluder
from retinue.kit.jobs.recorder import OutcomeRecorder
from tests.kit import workshop as here
from tests.kit.workshop import Workshop


async def test_every_attempt_is_concluded_once_with_what_becomes_of_its_job(workshop: Workshop):
    await workshop.ask(here.attempt, "good", "second time", "raises", "never")
    await workshop.drain()
    assert here.batches == [4]
    assert len(await workshop.jobs()) == 3
    workshop.clock.advance(5)
    await workshop.drain()
    workshop.clock.advance(30)
    await workshop.drain()
    found = sorted(zip(await workshop.marks(), await workshop.notes(), strict=True))
    assert found == [
        ("good", "attempt 1 done None"),
        ("never", "attempt 1 ready refused"),
        ("never", "attempt 2 ready refused"),
        ("never", "attempt 3 dead refused"),
        ("raises", "None dead ValueError"),
        ("raises", "None ready ValueError"),
        ("raises", "None ready ValueError"),
        ("second time", "attempt 1 ready refused"),
        ("second time", "attempt 2 done None"),
    ]
    assert sorted(here.ran) == ["after never", "after raises"]


async def test_an_attempt_may_lengthen_its_delay_but_not_shorten_it(workshop: Workshop):
    await workshop.ask(here.attempt, "slowly")
    await workshop.drain()
    (job,) = await workshop.jobs()
    assert job.run_at == pytest.approx(workshop.clock.time() + 50, abs=0.01)


async def test_whoever_lost_the_lease_concludes_nothing(workshop: Workshop):
    await workshop.ask(here.attempt, "good")
    runner = workshop.runner()
    turn = await runner._turn()
    outcome = await runner._executor.run(turn.jobs[0])
    await workshop.change("UPDATE jobs SET worker = 'another'")
    runner._recorder.add(outcome)
    await runner._turn()
    assert await workshop.marks() == []
    assert len(await workshop.jobs()) == 1


async def test_where_many_end_they_are_recorded_beside_the_turn(live: Workshop, monkeypatch):
    """On PostgreSQL in another transaction; one that fails is made good, and nothing is concluded twice."""
    beside, concluded = [], []
    record_all, conclude = OutcomeRecorder.record_all, Concluder.conclude

    async def count(self: OutcomeRecorder) -> None:
        beside.append(self)
        await record_all(self)

    async def fail_once(self: Concluder, *given: Any) -> bool:
        concluded.append(self)
        is_followed = await conclude(self, *given)
        if len(concluded) == 1:
            raise DatabaseUnavailable
        return is_followed

    monkeypatch.setattr(OutcomeRecorder, "record_all", count)
    monkeypatch.setattr(Concluder, "conclude", fail_once)
    monkeypatch.setattr(recorder, "MIN_SIDE_BATCH", 2)
    await live.ask(here.attempt, *["good"] * 60)
    runner = live.runner()
    await runner.start()
    async with asyncio.timeout(here.PATIENCE_S):
        while await live.jobs():
            await asyncio.sleep(0.01)
    await runner.stop()
    assert await live.marks() == ["good"] * 60
    assert bool(beside) is (live.instance.database.dialect == "postgresql")
