import asyncio
from collections import Counter

import pytest

from retinue.kit.jobs.fairness import QueueLimit, QueueSlots, choose_fairly
from retinue.kit.jobs.queue import MAX_CLAIMED_PER_TURN
from retinue.kit.jobs.statements import ClaimedJob
from tests.kit import workshop as here
from tests.kit.workshop import Workshop


def waiting_job(
    tenant_id: str, name: str, priority: int = 0, run_at: float = 0, lane: str = ""
) -> ClaimedJob:
    return ClaimedJob(
        tenant_id=tenant_id,
        id=name,
        kind="",
        queue="",
        payload="",
        priority=priority,
        lane=lane,
        run_at=run_at,
        attempt=0,
        interrupted=0,
        correlation_id="",
        hops=0,
        lineage="",
        trace_parent="",
        actor="",
    )


def chosen(candidates, *, at_once=100, per_lane=None, running=(), most=100):
    return [
        job.id for job in choose_fairly(candidates, QueueSlots(QueueLimit(at_once, per_lane), running), most)
    ]


def test_tenants_take_turns():
    candidates = [waiting_job("a", f"a{number}") for number in range(5)] + [
        waiting_job("b", "b0"),
        waiting_job("b", "b1"),
    ]
    assert chosen(candidates, at_once=5) == ["a0", "b0", "a1", "b1", "a2"]
    assert chosen(candidates, at_once=5, most=3) == ["a0", "b0", "a1"]


def test_priority_and_age_decide_within_a_tenant():
    candidates = [
        waiting_job("a", "late", 0, 2),
        waiting_job("a", "low", 1, 0),
        waiting_job("a", "early", 0, 1),
    ]
    assert chosen(candidates) == ["early", "late", "low"]


def test_nobody_gets_more_than_the_share():
    candidates = [waiting_job("a", f"a{number}") for number in range(5)] + [waiting_job("b", "b0")]
    held = [waiting_job("a", f"held{number}") for number in range(8)]
    assert chosen(candidates, at_once=10, running=held) == ["a0", "b0"]


def test_a_full_lane_leaves_the_places_to_the_tenants_other_lanes():
    slow = [waiting_job("a", f"slow{number}", lane="slow") for number in range(5)]
    candidates = [
        *slow,
        waiting_job("a", "quick", run_at=9, lane="quick"),
        waiting_job("a", "free", run_at=9),
    ]
    assert chosen(candidates, per_lane=2) == ["slow0", "slow1", "quick", "free"]
    assert chosen(candidates, per_lane=2, running=slow[3:]) == ["quick", "free"]
    assert chosen([waiting_job("b", "same name", lane="slow")], per_lane=2, running=slow[3:]) == ["same name"]


@pytest.mark.parametrize(("at_once", "share"), [(1, 1), (2, 2), (10, 9), (20, 18)])
def test_the_share_leaves_room_where_there_is_any(at_once, share):
    assert QueueLimit(at_once).share == share


async def test_a_tenant_with_thousands_of_jobs_delays_another_by_about_a_batch(workshop: Workshop):
    await workshop.ask(here.do_nothing, *(["many"] * 2000), tenant_id="ten_many")
    await workshop.ask(here.do_nothing, "one", tenant_id="ten_one")
    await workshop.drain()
    assert len(here.ran) == 2001
    assert here.ran.index("one") < 2 * 20


async def test_tenants_with_equal_backlogs_are_served_equally(workshop: Workshop):
    for name in ("first", "second"):
        await workshop.ask(here.do_nothing, *([name] * 200), tenant_id=f"ten_{name}")
    await workshop.drain()
    assert here.ran[:100].count("second") >= 30


async def test_with_more_tenants_than_places_everybody_has_a_turn_before_anyone_has_many(workshop: Workshop):
    tenants = [f"ten_{number:03}" for number in range(120)]
    for tenant_id in tenants:
        await workshop.ask(here.do_nothing, *([tenant_id] * 5), tenant_id=tenant_id)
    await workshop.drain(default=10)
    one_round = here.ran[: len(tenants) + 20]
    assert set(one_round) == set(tenants)
    assert max(Counter(one_round).values()) <= 2


async def test_a_tenants_waiting_retries_do_not_hide_what_is_due(workshop: Workshop):
    await workshop.ask(here.do_nothing, *(["not yet"] * 300), tenant_id="ten_a", delay_s=600)
    await workshop.ask(here.do_nothing, *(["many"] * 100), tenant_id="ten_b")
    await workshop.ask(here.do_nothing, "due", tenant_id="ten_a", priority=5)
    await workshop.drain()
    assert "not yet" not in here.ran
    assert here.ran.index("due") < 2 * 20


async def test_a_crowded_queue_starts_the_most_urgent_of_a_tenant_first(workshop: Workshop):
    await workshop.ask(here.do_nothing, *(["normal"] * 100))
    await workshop.ask(here.do_nothing, "urgent", priority=-1)
    await workshop.drain()
    assert here.ran.index("urgent") < 2 * 20


async def test_a_queue_with_many_places_is_filled_in_several_turns(workshop: Workshop):
    await workshop.ask(here.do_nothing, *(["many"] * (2 * MAX_CLAIMED_PER_TURN + 1)), tenant_id="ten_many")
    await workshop.ask(here.do_nothing, "one", tenant_id="ten_one")
    assert await workshop.drain(default=1000) == 2 * MAX_CLAIMED_PER_TURN + 2
    assert here.ran.index("one") < MAX_CLAIMED_PER_TURN


async def test_slow_jobs_of_one_tenant_leave_a_place_for_the_others(live: Workshop):
    gate = here.gates["gate"]
    for number in range(20):
        await live.ask(here.wait_at_gate, "slow", tenant_id="ten_slow", correlation_id=f"cor_{number}")
    runner = live.runner(gated=10)
    await runner.start()
    await gate.until(9)
    await live.ask(here.wait_at_gate, "quick", tenant_id="ten_quick", correlation_id="cor_quick")
    await gate.until(10)
    assert gate.arrived == ["slow"] * 9 + ["quick"]
    gate.opened.set()
    await gate.until(21)
    await asyncio.wait_for(runner.stop(), here.PATIENCE_S)


async def test_a_slow_lane_of_a_tenant_does_not_keep_its_other_lanes_waiting(live: Workshop):
    gate = here.gates["gate"]
    for number in range(150):
        await live.ask(here.wait_in_lane, "slow", lane=f"slow {number % 3}")
    for number in range(150):
        await live.ask(here.wait_in_lane, "quick", lane=f"quick {number}")
    runner = live.runner()
    await runner.start()
    await gate.until(6)
    async with asyncio.timeout(here.PATIENCE_S):
        while here.ran.count("quick") < 150:
            await asyncio.sleep(0.01)
    assert gate.arrived == ["slow"] * 6
    gate.opened.set()
    await gate.until(150)
    await asyncio.wait_for(runner.stop(), here.PATIENCE_S)
