"""Jobs whose attempts are written down by many, with the end of the job."""

import pytest

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
    runner._outcomes.append(outcome)
    await runner._turn()
    assert await workshop.marks() == []
    assert len(await workshop.jobs()) == 1
