"""Tests of the webhooks that get an event: by name, wildcard and filter, while active, and bounded."""

import asyncio

import pytest

from retinue.kit.context import Caller, Context
from retinue.kit.events.dispatch import MAX_HOPS
from retinue.kit.principal import Principal
from retinue.tenants.event_listeners import no_listeners_until
from retinue.webhooks.delivery.router import MAX_DELIVERIES_PER_EVENT
from tests.factories.notifications import make_channel
from tests.factories.tools import make_tool
from tests.factories.workflows import make_workflow, node
from tests.webhooks.hooks import ORDER, PATH, Hooks


async def test_events_go_to_those_who_chose_them_and_to_nobody_else(hooks, receiver, people):
    chosen = {
        "/exact": {"events": ["form.submission.created"]},
        "/wild": {"events": ["form.*", "form.submission.*"]},
        "/all": {"events": ["*"]},
        "/other": {"events": ["formula.*"]},
        "/filtered": {"events": ["form.*"], "filters": {"form_id": ["frm_1"], "data.count": {"gte": 2}}},
        "/filtered-out": {"events": ["form.*"], "filters": {"form_id": "frm_2"}},
        "/inactive": {"events": ["*"], "active": False},
    }
    made = {path: await hooks.make(path, **more) for path, more in chosen.items()}
    await hooks.work()
    receiver.received.clear()
    other = await people.signed_in("tenant_admin", await people.tenant("Other"))
    await other.post(PATH, {"url": receiver.url + "/foreign", "events": ["*"]})
    body = {"event_type": "form.submission.created", "data": {"form_id": "frm_1", "count": 2}}
    answer = await hooks.admin.post("/api/v1/events/test", body)
    assert (answer.status, answer.json()["matched"]["webhooks"]) == (202, 4)
    event_id = answer.json()["event"]["id"]
    await hooks.work()
    assert sorted(one.path for one in receiver.received) == ["/all", "/exact", "/filtered", "/wild"]
    assert all(one.json["test"] for one in receiver.received if one.path == "/wild")
    (found,) = await hooks.deliveries(made["/wild"], event_id=event_id)
    assert (found["event_id"], found["test"], found["status"]) == (event_id, True, "delivered")
    assert await hooks.deliveries(made["/wild"], event_id="evt_none") == []
    assert receiver.at("/foreign") == []


async def test_real_events_of_the_product_arrive_and_what_was_rolled_back_does_not(hooks, receiver, admin):
    await hooks.make(events=["agent.*"])
    agent = {"name": "Support", "primary_model": "local/m", "system_prompt": "Be kind."}
    answer = await admin.post("/api/v1/agents", agent)
    assert answer.status == 201, answer
    assert (await admin.post("/api/v1/agents", {"name": ""})).status == 422
    await hooks.work()
    (got,) = receiver.received
    assert (got.json["type"], got.json["data"]["agent_id"]) == ("agent.created", answer.json()["id"])
    assert got.json["correlation_id"] == answer.headers["x-correlation-id"]


@pytest.mark.either_database
async def test_one_event_sets_off_no_more_than_fifty(hooks, receiver):
    for number in range(MAX_DELIVERIES_PER_EVENT + 2):
        await hooks.make(f"/{number}")
    await hooks.happen()
    await hooks.work()
    assert {one.path for one in receiver.received} == {
        f"/{number}" for number in range(MAX_DELIVERIES_PER_EVENT)
    }


async def test_a_subscription_posts_to_a_webhook_once_however_often_it_is_meant(hooks, receiver, admin):
    quiet, loud = await hooks.make("/quiet", events=["never.happens"]), await hooks.make("/loud")
    bodies = [
        {"event_type": ORDER, "action_type": "webhook", "action_config": {"webhook_id": one["id"]}}
        for one in (quiet, loud)
    ]
    for body in bodies:
        answer = await admin.post("/api/v1/event-subscriptions", body)
        assert answer.status == 201, answer
    event_id = await hooks.happen(data={"n": 1})
    await hooks.work()
    assert sorted(one.path for one in receiver.received) == ["/loud", "/quiet"]
    assert {one.json["id"] for one in receiver.received} == {event_id}
    assert len({one.body for one in receiver.received}) == 1
    (delivery,) = await hooks.deliveries(quiet)
    assert (delivery["status"], delivery["event_type"]) == ("delivered", ORDER)


async def test_where_a_subscription_posts_is_checked_when_it_is_saved(hooks, admin):
    url, made = "https://example.com/hook", await hooks.make("/quiet")
    body = {"event_type": ORDER, "action_type": "webhook"}
    for config, field in (
        ({}, "action_config"),
        ({"url": 7}, "action_config"),
        ({"url": "https://example.com/" + "x" * 2048}, "action_config"),
        ({"url": "http://example.com/"}, "action_config.url"),
        ({"url": url, "headers": {"X-A": 7}}, "action_config.headers"),
        ({"url": url, "headers": ["X-A"]}, "action_config.headers"),
        ({"url": url, "headers": {"Host": "x"}}, "action_config.headers"),
        ({"webhook_id": "wh_none"}, "action_config.webhook_id"),
        ({"webhook_id": ""}, "action_config.webhook_id"),
        ({"webhook_id": 1, "url": url}, "action_config.webhook_id"),
    ):
        refused = await admin.post("/api/v1/event-subscriptions", {**body, "action_config": config})
        assert (refused.status, list(refused.details)) == (422, [field]), config
    for config in ({"webhook_id": made["id"], "url": 7, "headers": 7}, {"url": url, "headers": None, "x": 1}):
        taken = await admin.post("/api/v1/event-subscriptions", {**body, "action_config": config})
        assert taken.status == 201, taken


async def test_a_chain_through_ones_own_receiver_is_cut(hooks, receiver, admin, api):
    slug = "round-and-round"
    made = await admin.post("/api/v1/incoming-webhooks", {"name": "Loop", "slug": slug})
    assert made.status == 201, made

    async def forward(got) -> int:
        kept = {name: got.headers[name] for name in ("x-service-hops", "x-correlation-id")}
        return (await api.post(f"/webhooks/in/{slug}", {"again": True}, headers=kept)).status

    receiver.forward = forward
    await hooks.make(events=["system.webhook.received"])
    assert (await api.post(f"/webhooks/in/{slug}", {"first": True})).status == 200
    await hooks.work()
    assert [int(one.headers["x-service-hops"]) for one in receiver.received] == list(range(1, 9))
    assert len({one.headers["x-correlation-id"] for one in receiver.received}) == 1


@pytest.mark.parametrize("is_linked", [True, False], ids=["linked", "subscribed"])
async def test_a_chain_through_a_tool_is_cut(hooks, receiver, admin, api, is_linked):
    """Tool, incoming webhook, event, workflow, and the same tool again."""
    slug = "round-and-round"

    async def forward(got) -> int:
        kept = {"x-service-hops": got.headers["x-service-hops"]}
        return (await api.post(f"/webhooks/in/{slug}", {"again": True}, headers=kept)).status

    receiver.forward = forward
    tool = await make_tool(admin, tool_type="webhook", config={"url": receiver.url})
    trigger = {"type": "event", "config": {"event_type": "system.webhook.received"}}
    call = node("call", "tool", tool_id=tool["id"], input={})
    workflow = await make_workflow(admin, call, **({} if is_linked else {"trigger": trigger}))
    linked = {"workflow_id": workflow["id"]} if is_linked else {}
    made = await admin.post("/api/v1/incoming-webhooks", {"name": "Loop", "slug": slug, **linked})
    assert made.status == 201, made
    assert (await api.post(f"/webhooks/in/{slug}", {"first": True})).status == 200
    await hooks.work()
    told = [int(one.headers["x-service-hops"]) for one in receiver.received]
    assert told == sorted(told)
    assert 2 < len(told) <= MAX_HOPS


@pytest.mark.one_service("counts the places of one worker")
async def test_a_receiver_that_hangs_keeps_few_places_and_delays_nobody_else(make_service, receiver):
    from tests.factories.people import People

    service = await make_service(worker="inline")
    people = People(service)
    hooks = Hooks(service, people, await people.super_admin(), receiver)
    hanging = await hooks.make("/hanging", events=["slow.one"])
    await hooks.make("/quick", events=["quick.one"])
    for _ in range(10):
        await hooks.happen("slow.one")
    await receiver.until("/hanging", 4)
    for _ in range(10):
        await hooks.happen("quick.one")
    await receiver.until("/quick", 10)
    assert len(receiver.at("/hanging")) == 4
    receiver.release.set()
    await receiver.until("/hanging", 10)
    async with asyncio.timeout(10):
        while await hooks.deliveries(hanging, status="pending"):
            await asyncio.sleep(0.02)
    assert len(await hooks.deliveries(hanging, status="delivered")) == 10


async def test_a_notification_too_tells_how_far_its_chain_has_come(hooks, receiver):
    wanted = {"event_type": ORDER, "action_type": "notification"}
    for path, provider, key in (("/http", "http", "url"), ("/chat-webhook", "slack_webhook", "webhook_url")):
        channel = await make_channel(hooks.admin, provider, {key: receiver.url + path})
        config = {"action_config": {"channel_id": channel["id"]}}
        answer = await hooks.admin.post("/api/v1/event-subscriptions", {**wanted, **config})
        assert answer.status == 201, answer
    await hooks.happen(hops=3)
    await hooks.work()
    told = {one.path: one.headers["x-service-hops"] for one in receiver.received}
    assert told == {"/http": "4", "/chat-webhook": "4"}, "it may be ourselves who receive it"


@pytest.mark.parametrize(("took_s", "arrivals"), [(1.0, 1), (0.9, 0)])
async def test_a_long_request_reaches_the_first_webhook_that_was_made_meanwhile(
    hooks, receiver, took_s, arrivals
):
    """A request believes for a second that nobody listens; a shorter one may have come before the webhook."""
    clock, tenant_id = hooks.clock, hooks.admin.user.tenant_id
    knows_of_nobody = no_listeners_until(clock, is_listened_to=False)
    principal = Principal(kind="user", tenant_id=tenant_id, no_listeners_until=knows_of_nobody)
    async with Context(hooks.service.instance, principal, Caller(correlation_id="cor_long")) as ctx:
        await hooks.make()
        clock.advance(knows_of_nobody - clock.monotonic() - 1 + took_s)
        ctx.emit_custom(ORDER, {"n": 1})
    await hooks.work()
    assert len(receiver.received) == arrivals
