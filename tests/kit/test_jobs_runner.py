import asyncio

import pytest
from structlog.testing import capture_logs

from retinue.kit.clock import SystemClock
from retinue.kit.db.databases import direct_url
from retinue.kit.jobs import runner as runner_module
from retinue.kit.jobs.models import Job
from retinue.kit.jobs.queue import LEASE_SECONDS, MAX_INTERRUPTIONS
from retinue.kit.jobs.wakeup import announce_work
from tests.kit import workshop as here
from tests.kit.workshop import PATIENCE_S, Gate, Named, Workshop


async def test_a_job_runs_after_its_transaction_and_its_row_is_gone(workshop: Workshop):
    await workshop.ask(here.leave_mark, "one", "two")
    assert await workshop.drain() > 0
    assert {"one", "two"} <= set(await workshop.marks())
    assert await workshop.jobs() == []


async def test_a_job_of_a_transaction_that_failed_does_not_exist(workshop: Workshop):
    async with workshop.context() as ctx:
        ctx.defer(here.leave_mark, Named(name="never"))
        await ctx.flush()
        await ctx.rollback()
    assert await workshop.drain() == 0


async def test_a_delayed_job_waits_for_its_time(workshop: Workshop):
    await workshop.ask(here.do_nothing, "later", delay_s=60)
    assert await workshop.drain() == 0
    workshop.clock.advance(61)
    await workshop.drain()
    assert "later" in here.ran


async def test_draining_runs_what_jobs_ask_for_too(workshop: Workshop):
    await workshop.ask(here.enqueue_more, "more")
    await workshop.drain()
    assert {"more, first", "more, second"} <= set(await workshop.marks())
    assert await workshop.jobs() == []


async def test_jobs_run_in_the_order_they_were_asked_for(workshop: Workshop):
    names = [f"number {number}" for number in range(50)]
    await workshop.ask(here.do_nothing, *names)
    await workshop.drain()
    assert here.ran == names


async def test_a_second_job_with_the_same_key_is_not_stored(workshop: Workshop):
    await workshop.ask(here.do_nothing, "a", "again", dedupe_key="same")
    await workshop.ask(here.do_nothing, "later", dedupe_key="same")
    await workshop.ask(here.do_nothing, "other tenant", tenant_id="ten_b", dedupe_key="same")
    await workshop.drain()
    assert sorted(here.ran) == ["a", "other tenant"]
    await workshop.ask(here.do_nothing, "once it is free", dedupe_key="same")
    await workshop.drain()
    assert here.ran[-1] == "once it is free"


async def test_a_lost_lease_undoes_what_the_slow_worker_did(workshop: Workshop):
    await workshop.ask(here.wait_at_gate, "slow")
    slow = asyncio.create_task(workshop.runner().drain())
    await here.gates["gate"].until(1)
    workshop.clock.advance(LEASE_SECONDS + 1)
    other = asyncio.create_task(workshop.runner().drain())
    await here.gates["second gate"].until(1)
    with capture_logs() as logs:
        here.gates["gate"].opened.set()
        await slow
    assert await workshop.marks() == []
    assert "job_lease_lost" in {entry["event"] for entry in logs}
    here.gates["second gate"].opened.set()
    await other
    assert await workshop.marks() == ["slow"]
    assert await workshop.jobs() == []


async def test_a_worker_that_comes_too_late_changes_nothing(workshop: Workshop):
    await workshop.ask(here.wait_at_gate, "slow")
    slow = asyncio.create_task(workshop.runner().drain())
    await here.gates["gate"].until(1)
    workshop.clock.advance(LEASE_SECONDS + 1)
    here.gates["second gate"].opened.set()
    await workshop.drain()
    here.gates["gate"].opened.set()
    await slow
    assert await workshop.marks() == ["slow"]


async def test_a_job_that_takes_down_every_worker_is_dead_in_the_end(workshop: Workshop):
    await workshop.ask(here.leave_mark, "poison")
    await workshop.change(
        "UPDATE jobs SET state = 'running', worker = 'gone', attempt = ?, interrupted = ?, lease_until = 1",
        MAX_INTERRUPTIONS + 1,
        MAX_INTERRUPTIONS,
    )
    await workshop.drain()
    [job] = await workshop.jobs()
    assert (job.state, job.last_error) == ("dead", "its worker went away")


async def test_an_interrupted_attempt_is_not_held_against_the_job(workshop: Workshop):
    await workshop.ask(here.end_as_told, "later")
    await workshop.change("UPDATE jobs SET state = 'running', worker = 'gone', attempt = 1, lease_until = 1")
    await workshop.drain()
    [job] = await workshop.jobs()
    assert (job.attempt, job.interrupted, job.state) == (2, 1, "ready")


async def test_a_kind_that_is_unknown_here_is_left_to_others(workshop: Workshop):
    await workshop.ask(here.do_nothing, "from the future")
    await workshop.change("UPDATE jobs SET kind = 'invented_later'")
    await workshop.drain()
    [job] = await workshop.jobs()
    assert (job.state, job.attempt) == ("ready", 0)
    assert job.run_at > workshop.clock.time() + 20


async def test_a_started_runner_hears_of_work_at_once(live: Workshop, monkeypatch: pytest.MonkeyPatch):
    async def hear_nothing(seconds: float) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(runner_module, "_POLL_SECONDS", 600)
    monkeypatch.setattr(live.instance.database, "wait_for_change", hear_nothing)
    runner = live.runner()
    await runner.start()
    await live.ask(here.wait_at_gate, "now")
    await here.gates["gate"].until(1)
    here.gates["gate"].opened.set()
    assert runner.status().is_well
    await runner.stop()
    assert await live.marks() == ["now"]
    assert not runner.status().is_running


async def test_a_runner_hears_of_the_work_of_other_processes(live: Workshop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runner_module, "_POLL_SECONDS", 600)
    settings = live.instance.settings
    other = await here.open_workshop(settings.data_dir, direct_url(settings), SystemClock())
    announce_work(other.instance)
    runner = live.runner()
    await runner.start()
    async with asyncio.timeout(PATIENCE_S):
        while not here.gates["gate"].arrived:
            # Again and again, because the first may come before the runner listens.
            await other.ask(here.wait_at_gate, "from afar", correlation_id=f"cor_{len(here.passed)}")
            await asyncio.wait([asyncio.create_task(here.gates["gate"].until(1))], timeout=0.2)
    here.gates["gate"].opened.set()
    await runner.stop()
    await here.close_instance(other.instance)


async def test_stopping_waits_for_what_runs_and_takes_nothing_new(live: Workshop):
    runner = live.runner()
    await runner.start()
    await live.ask(here.wait_at_gate, "running")
    await here.gates["gate"].until(1)
    stopping = asyncio.create_task(runner.stop(grace_s=PATIENCE_S))
    await asyncio.sleep(0)
    await live.ask(here.wait_at_gate, "too late", correlation_id="cor_late")
    here.gates["gate"].opened.set()
    await stopping
    assert await live.marks() == ["running"]
    assert [job.state for job in await live.jobs()] == ["ready"]


async def test_what_does_not_finish_in_time_is_given_back_uncounted(live: Workshop):
    runner = live.runner()
    await runner.start()
    await live.ask(here.wait_at_gate, "endless")
    await here.gates["gate"].until(1)
    await runner.stop(grace_s=0)
    [job] = await live.jobs()
    assert (job.state, job.attempt, job.worker) == ("ready", 0, None)
    here.gates["second gate"].opened.set()
    await live.drain()
    assert await live.marks() == ["endless"]


async def test_a_queue_runs_as_many_at_once_as_it_may(live: Workshop):
    gate = here.gates["gate"]
    runner = live.runner(gated=3)
    for number in range(5):
        await live.ask(
            here.wait_at_gate, str(number), tenant_id=f"ten_{number}", correlation_id=f"cor_{number}"
        )
    await runner.start()
    await gate.until(3)
    await live.ask(here.do_nothing, "another queue")
    async with asyncio.timeout(PATIENCE_S):
        while not here.ran or runner.status().running != {"gated": 3}:
            await asyncio.sleep(0.001)
    assert len(gate.arrived) == 3
    gate.opened.set()
    await gate.until(5)
    await runner.stop()
    assert len(await live.marks()) == 5


async def test_a_lease_is_held_while_its_job_runs(workshop: Workshop):
    await workshop.ask(here.wait_at_gate, "long")
    runner = workshop.runner()
    await runner.start()
    gate: Gate = here.gates["gate"]
    await gate.until(1)
    [job] = await workshop.jobs(state="running")
    workshop.clock.advance(LEASE_SECONDS - 1)
    runner._wake.set()
    async with asyncio.timeout(PATIENCE_S):
        while (await _only(workshop)).lease_until == job.lease_until:
            await asyncio.sleep(0.001)
    workshop.clock.advance(LEASE_SECONDS - 1)
    assert await workshop.drain() == 0
    gate.opened.set()
    await runner.stop()
    assert await workshop.marks() == ["long"]


async def test_a_claim_that_never_reached_its_worker_runs_out(workshop: Workshop):
    """The connection broke during the commit of the claim: the row says running, and nobody runs it."""
    gate = here.gates["gate"]
    runner = workshop.runner()
    await runner.start()
    await workshop.ask(here.wait_at_gate, "long")
    await gate.until(1)
    await workshop.ask(here.leave_mark, "orphan", delay_s=1e6)
    await workshop.change(
        "UPDATE jobs SET state = 'running', attempt = 1, run_at = 0, worker = ?, lease_until = ?"
        " WHERE kind = 'leave_mark'",
        runner.status().worker,
        workshop.clock.time() + LEASE_SECONDS,
    )
    for _ in range(4):
        before = (await workshop.jobs(kind="wait_at_gate"))[0].lease_until
        workshop.clock.advance(LEASE_SECONDS / 3 + 0.1)
        runner._wake.set()
        async with asyncio.timeout(PATIENCE_S):
            while (await workshop.jobs(kind="wait_at_gate"))[0].lease_until == before:
                await asyncio.sleep(0.001)
    gate.opened.set()
    await runner.stop()
    assert sorted(await workshop.marks())[-2:] == ["long", "orphan"]


async def _only(workshop: Workshop) -> Job:
    [job] = await workshop.jobs()
    return job


async def test_starting_twice_is_refused(live: Workshop):
    runner = live.runner()
    await runner.start()
    with pytest.raises(RuntimeError):
        await runner.start()
    with pytest.raises(RuntimeError):
        await runner.drain()
    await runner.stop()
