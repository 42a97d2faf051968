"""Tests of the actions of subscriptions."""

from retinue.access.models import Role
from retinue.app import Service
from retinue.events.errors import MessageRefused
from retinue.events.subscription_router import MAX_ACTIONS_PER_EVENT
from retinue.kit.clock import ManualClock
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.dispatch import MAX_HOPS, EventDispatcher
from tests.client import Api
from tests.events.conftest import SUBSCRIPTIONS, Workflows, emit, read, subscribe
from tests.factories.agents import make_agent
from tests.factories.happenings import events
from tests.factories.people import People


async def test_a_matching_event_starts_the_workflow_with_what_it_was_given(
    service: Service, admin: Api, workflows: Workflows, clock: ManualClock
) -> None:
    given = {"order": "{{data.id}}", "text": "{{data.id}} by {{data.actor.id}}", "all": "{{event.type}}"}
    templated = await subscribe(admin, action_config={"workflow_id": "wf_a", "input": given})
    plain = await subscribe(admin, "order.*", action_config={"workflow_id": "wf_b"})
    clock.advance(5)
    told = await emit(admin, id="o1", total=7)
    await service.runner.drain()
    first, second = sorted(workflows.started, key=lambda start: start.workflow_id)
    assert first.input == {"order": "o1", "text": f"o1 by {admin.user.id}", "all": "order.placed"}
    assert (first.trigger, first.source_id) == ("event", templated["id"])
    assert (second.input["id"], second.input["data"]["total"]) == (told["event"]["id"], 7)
    for one in (templated, plain):
        after = await read(admin, one)
        assert (after["trigger_count"], after["failure_count"], after["last_error"]) == (1, 0, None)
        assert after["last_triggered_at"] is not None
        assert after["updated_at"] == one["updated_at"]


async def test_an_event_that_does_not_match_or_is_another_tenants_starts_nothing(
    service: Service, admin: Api, people: People, workflows: Workflows
) -> None:
    picky = await subscribe(admin, filters={"total": {"gt": 100}})
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    foreign = await subscribe(stranger, "*")
    await emit(admin, id="o1", total=7)
    await service.runner.drain()
    assert (await read(admin, picky))["trigger_count"] == 0
    assert (await read(stranger, foreign))["trigger_count"] == 0
    assert workflows.started == []


async def test_real_events_start_workflows_as_test_events_do(
    service: Service, admin: Api, workflows: Workflows
) -> None:
    agents = await subscribe(admin, "agent.created", filters={"name": "Support"})
    agent = await make_agent(admin)
    await service.runner.drain()
    assert (await read(admin, agents))["trigger_count"] == 1
    assert workflows.started[-1].input["data"]["agent_id"] == agent["id"]


async def test_a_failing_action_is_tried_again_and_then_told(
    service: Service, admin: Api, people: People, workflows: Workflows, clock: ManualClock
) -> None:
    workflows.emits["wf_a"] = ("order.shipped", {})
    subscribed = await subscribe(admin)
    workflows.fails = [MessageRefused()]
    await emit(admin)
    await service.runner.drain()
    assert (await read(admin, subscribed))["failure_count"] == 0
    clock.advance(10)
    await service.runner.drain()
    after = await read(admin, subscribed)
    assert (after["trigger_count"], after["failure_count"]) == (1, 0)
    assert len(await events(people, "order.shipped")) == 1

    workflows.fails = [ValueError("secret")] * 4
    await emit(admin)
    for pause_s in (0, 6, 40, 340):
        clock.advance(pause_s)
        await service.runner.drain()
    after = await read(admin, subscribed)
    assert (after["trigger_count"], after["failure_count"], after["last_error"]) == (1, 1, "ValueError")
    # What a failed try had done is undone.
    assert len(await events(people, "order.shipped")) == 1
    assert not workflows.fails
    await emit(admin)
    await service.runner.drain()
    after = await read(admin, subscribed)
    assert (after["trigger_count"], after["failure_count"], after["last_error"]) == (2, 0, None)

    unknown = await subscribe(admin, "other.thing", action_config={"workflow_id": "wf_gone"})
    await emit(admin, "other.thing")
    await service.runner.drain()
    after = await read(admin, unknown)
    assert (after["failure_count"], after["last_error"]) == (1, "There is no such workflow.")


async def test_what_was_paused_changed_or_deleted_before_its_turn_does_nothing(
    service: Service, admin: Api, workflows: Workflows
) -> None:
    made = [await subscribe(admin) for _ in range(4)]
    kept, paused, changed, deleted = made
    await emit(admin)
    await _hand_on(service)
    await admin.put(f"{SUBSCRIPTIONS}/{paused['id']}", {"active": False})
    await admin.put(f"{SUBSCRIPTIONS}/{changed['id']}", {"event_type": "other.thing"})
    await admin.delete(f"{SUBSCRIPTIONS}/{deleted['id']}")
    await service.runner.drain()
    assert [start.source_id for start in workflows.started] == [kept["id"]]


async def _hand_on(service: Service) -> None:
    """Let the relay make its jobs without running them."""
    unit = UnitOfWork(service.instance.database, reads_outside_transaction=False)
    assert await EventDispatcher(service.instance).run(unit)
    await unit.commit()


async def test_chains_that_feed_themselves_end(
    service: Service, admin: Api, people: People, workflows: Workflows
) -> None:
    await subscribe(admin, "ping.self", action_config={"workflow_id": "wf_a"})
    workflows.emits["wf_a"] = ("ping.self", {})
    await emit(admin, "ping.self")
    await service.runner.drain()
    assert len(workflows.started) == MAX_HOPS
    told = await events(people, "ping.self")
    assert len(told) == MAX_HOPS + 1
    assert len({one.correlation_id for one in told}) == 1

    workflows.started.clear()
    workflows.emits = {"wf_a": ("pong.back", {}), "wf_b": ("ping.there", {})}
    await subscribe(admin, "ping.there", action_config={"workflow_id": "wf_a"})
    await subscribe(admin, "pong.*", action_config={"workflow_id": "wf_b"})
    told = await emit(admin, "ping.there")
    await service.runner.drain()
    assert len(workflows.started) == MAX_HOPS
    trace = await admin.get(f"/api/v1/event-log/trace/{told['event']['correlation_id']}")
    assert [one["type"] for one in trace.json()["data"]] == ["ping.there", "pong.back"] * 4 + ["ping.there"]


async def test_one_event_sets_off_only_so_many_subscriptions(
    service: Service, admin: Api, workflows: Workflows
) -> None:
    for _ in range(MAX_ACTIONS_PER_EVENT + 3):
        await subscribe(admin)
    assert (await emit(admin))["matched"]["subscriptions"] == MAX_ACTIONS_PER_EVENT
    await service.runner.drain()
    assert len(workflows.started) == MAX_ACTIONS_PER_EVENT


async def test_no_event_is_passed_over_in_a_batch_of_many_types(
    service: Service, admin: Api, people: People, workflows: Workflows
) -> None:
    last = await subscribe(admin, "zz.last")
    async with people.context(admin.user.tenant_id) as ctx:
        for number in range(150):
            ctx.emit_custom(f"many.types.n{number}", {})
        ctx.emit_custom("zz.last", {})
    await service.runner.drain()
    assert [start.source_id for start in workflows.started] == [last["id"]]
