import pytest
from structlog.testing import capture_logs

from retinue.kit.jobs.declare import JobKind, Retry, handlers_by_name, implement
from retinue.kit.jobs.models import Job
from tests.kit import workshop as here
from tests.kit.job_factory import handlers
from tests.kit.workshop import Named, Workshop


async def the_job(workshop: Workshop) -> Job:
    [job] = await workshop.jobs()
    return job


async def test_attempts_follow_the_schedule_and_never_come_early(workshop: Workshop):
    await workshop.ask(here.fail_always, "try")
    await workshop.drain()
    assert len(here.ran) == 1
    for delay, attempts in ((5, 2), (30, 3)):
        workshop.clock.advance(delay - 0.5)
        await workshop.drain()
        assert len(here.ran) == attempts - 1
        workshop.clock.advance(1)
        await workshop.drain()
        assert len(here.ran) == attempts


async def test_after_the_last_attempt_the_job_is_dead_and_says_so(workshop: Workshop):
    await workshop.ask(here.fail_always, "try", dedupe_key="held")
    with capture_logs() as logs:
        for _ in range(4):
            await workshop.drain()
            workshop.clock.advance(60)
    assert len(here.ran) == 3
    dead = await the_job(workshop)
    assert (dead.state, dead.attempt, dead.worker, dead.dedupe_key) == ("dead", 3, None, None)
    [warning] = [entry for entry in logs if entry["event"] == "job_dead"]
    assert (warning["log_level"], warning["job_id"]) == ("warning", dead.id)


async def test_a_failed_attempt_leaves_no_effects(workshop: Workshop):
    await workshop.ask(here.fail_always, "try")
    await workshop.drain()
    assert await workshop.marks() == []


async def test_an_error_is_kept_without_what_it_quotes(workshop: Workshop):
    await workshop.ask(here.fail_always, "try")
    await workshop.drain()
    assert (await the_job(workshop)).last_error == "ValueError"


async def test_chance_only_ever_adds_to_a_delay(workshop: Workshop):
    await workshop.ask(here.fail_with_jitter, *(f"number {number}" for number in range(30)))
    before = workshop.clock.time()
    await workshop.drain()
    delays = [job.run_at - before for job in await workshop.jobs()]
    assert len(delays) == 30
    assert min(delays) >= 100
    assert max(delays) < 110.1
    assert max(delays) - min(delays) > 1


async def test_giving_up_makes_a_job_dead_at_once(workshop: Workshop):
    await workshop.ask(here.end_as_told, "give up")
    await workshop.drain()
    dead = await the_job(workshop)
    assert (dead.state, dead.last_error) == ("dead", "GiveUp: there is no such address")


async def test_a_job_that_asks_for_it_is_run_again_later_even_after_its_last_attempt(workshop: Workshop):
    await workshop.ask(here.end_as_told, "later")
    for attempts in (1, 2, 3):
        await workshop.drain()
        assert len(here.ran) == attempts
        workshop.clock.advance(590)
        assert await workshop.drain() == 0
        workshop.clock.advance(20)
    assert (await the_job(workshop)).state == "ready"


async def test_a_database_that_is_away_costs_no_attempt(workshop: Workshop):
    await workshop.ask(here.end_as_told, "no database")
    for attempts in (1, 2, 3):
        await workshop.drain()
        assert len(here.ran) == attempts
        waiting = await the_job(workshop)
        assert (waiting.state, waiting.attempt) == ("ready", 0)
        workshop.clock.advance(2)


async def test_a_job_that_cancels_itself_has_failed(workshop: Workshop):
    await workshop.ask(here.end_as_told, "cancelled")
    await workshop.drain()
    dead = await the_job(workshop)
    assert (dead.state, dead.last_error) == ("dead", "CancelledError")


async def test_a_job_that_takes_too_long_is_ended_and_undone(workshop: Workshop):
    await workshop.ask(here.take_forever, "slow")
    await workshop.drain()
    dead = await the_job(workshop)
    assert (dead.state, dead.last_error) == ("dead", "TimeoutError")
    assert await workshop.marks() == []


async def test_a_payload_that_does_not_fit_is_a_failure(workshop: Workshop):
    await workshop.ask(here.do_nothing, "fits")
    await workshop.change("UPDATE jobs SET payload = '{}'")
    await workshop.drain()
    assert (await the_job(workshop)).last_error == "ValidationError"


def test_a_job_without_attempts_cannot_be_declared():
    with pytest.raises(TypeError):
        JobKind("hopeless", Named, retry=Retry(delays=()))


def test_two_jobs_cannot_have_one_name():
    async def run(ctx: object, payload: Named) -> None:
        """Has the name of another."""

    with pytest.raises(TypeError):
        handlers_by_name((*handlers(here.do_nothing), implement(JobKind("do_nothing", Named), run)))
