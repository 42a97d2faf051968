import asyncio

import pytest

from retinue.kit.clock import ManualClock
from retinue.kit.db.databases import direct_url
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.jobs.models import Schedule
from retinue.kit.jobs.schedules import Schedules
from tests.kit import workshop as here
from tests.kit.job_factory import handlers
from tests.kit.workshop import Workshop, workshop_on


@pytest.fixture
async def workshop(databases, tmp_path):
    async with workshop_on(databases, tmp_path, manifest=here.CLOCKWORK) as made:
        await made.drain()
        yield made


async def the_schedule(workshop: Workshop) -> Schedule:
    unit = UnitOfWork(workshop.instance.database, reads_outside_transaction=True)
    found = await SystemDb(unit, workshop.clock, workshop.instance.ring).get(Schedule, "keep_time")
    assert found is not None
    return found


async def test_a_periodic_job_first_runs_after_one_interval(workshop: Workshop):
    assert here.ran == []
    workshop.clock.advance(59)
    await workshop.drain()
    assert here.ran == []
    workshop.clock.advance(2)
    await workshop.drain()
    assert here.ran == ["keep_time"]
    assert (await the_schedule(workshop)).last_at is not None


async def test_runs_that_were_missed_are_made_up_for_once_and_the_beat_is_kept(workshop: Workshop):
    first = (await the_schedule(workshop)).next_at
    workshop.clock.advance(60 * 10 + 30)
    await workshop.drain()
    assert here.ran == ["keep_time"]
    assert (await the_schedule(workshop)).next_at == first + 600


async def test_of_two_processes_one_fires(workshop: Workshop):
    settings = workshop.instance.settings
    clock = ManualClock()
    other = await here.open_workshop(settings.data_dir, direct_url(settings), clock, here.CLOCKWORK)
    runners = [workshop.runner(), other.runner()]
    for runner in runners:
        await runner.drain()
    for times in (1, 2, 3):
        workshop.clock.advance(61)
        clock.advance(61)
        await asyncio.gather(*(runner.drain() for runner in runners))
        assert len(here.ran) == times
    await here.close_instance(other.instance)


async def test_whoever_saw_the_same_time_too_late_does_not_fire_again(workshop: Workshop):
    schedules = Schedules(workshop.instance, handlers(here.keep_time))
    seen_at = (await the_schedule(workshop)).next_at
    for _ in range(2):
        unit = UnitOfWork(workshop.instance.database, reads_outside_transaction=False)
        await schedules._fire_one(unit, *handlers(here.keep_time), seen_at, seen_at)
        await unit.commit()
        await workshop.drain()
    assert here.ran == ["keep_time"]


async def test_a_run_that_is_still_waiting_is_not_joined_by_another(workshop: Workshop):
    workshop.clock.advance(61)
    await workshop.drain()
    await workshop.ask(
        here.do_nothing, "in the way", tenant_id="", dedupe_key="schedule:keep_time", delay_s=999
    )
    workshop.clock.advance(61)
    await workshop.drain()
    assert here.ran == ["keep_time"]
    assert len(await workshop.jobs()) == 1


async def test_a_schedule_whose_interval_became_shorter_is_brought_forward(workshop: Workshop):
    await workshop.change("UPDATE schedules SET next_at = next_at + 86400")
    await workshop.drain()
    workshop.clock.advance(61)
    await workshop.drain()
    assert here.ran == ["keep_time"]


async def test_a_schedule_that_nobody_knows_any_more_rests(workshop: Workshop):
    await workshop.change("UPDATE schedules SET id = 'forgotten', next_at = 0")
    assert await workshop.drain() == 0
