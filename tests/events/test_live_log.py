"""The event log as it grows, over server-sent events, and searches in it."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.events import live_log
from retinue.kit.clock import ManualClock
from retinue.kit.limits.open_streams import MAX_STREAMS_PER_USER
from tests.chat.listening import Listener
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.events.conftest import emit
from tests.events.log_entries import LOG, entry_at, read_log, types
from tests.factories.people import People
from tests.services import SERVICES, instances_of

STREAM = f"{LOG}/stream"
SAID = {"conversation_id": "conv_1", "role": "user", "content": "the secret word is plum"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_log, "POLL_INTERVAL_SECONDS", 0.02)


async def listening(api: Api, query: str = "", **headers: str) -> Listener:
    listener = Listener(api, STREAM + query, method="GET", headers=headers)
    await listener.until("ready")
    return listener


def told(listener: Listener) -> list[str]:
    return [one.data["type"] for one in listener.events if one.event == "event"]


async def test_a_stream_tells_what_is_stored_in_the_form_of_the_log(
    admin: Api, people: People, clock: ManualClock
) -> None:
    await emit(admin, "order.before")
    stream = await listening(admin)
    clock.advance(1)
    await emit(admin, "order.placed", total=7)
    await stream.until("event")
    clock.advance(60)
    await emit(admin, "order.paid")
    await stream.until("event", 2)
    await stream.leave()
    events = [one for one in stream.events if one.event == "event"]
    assert [one.data for one in events] == (await read_log(admin))["data"][1::-1]
    assert stream.events[0].id < events[0].id < events[1].id


async def test_what_was_missed_comes_after_the_last_event_that_was_heard(
    admin: Api, clock: ManualClock
) -> None:
    stream = await listening(admin)
    await emit(admin, "order.heard")
    await stream.until("event")
    await stream.leave()
    clock.advance(60)
    for number in range(3):
        await emit(admin, f"order.missed{number}")
        clock.advance(20)
    last = str(stream.events[-1].id)
    back = await listening(admin, "?search=order.", **{"Last-Event-ID": last})
    await back.until("event", 4)
    await back.leave()
    assert told(back) == ["order.heard", "order.missed0", "order.missed1", "order.missed2"], (
        "what is from the seconds before may come twice"
    )
    for wrong in ("x", "-1", "1" * 30):
        assert (await admin.get(STREAM, headers={"Last-Event-ID": wrong})).status == 422
    future = await listening(admin, **{"Last-Event-ID": "9" * 18})
    await future.leave()


async def test_of_too_many_the_newest_are_told_after_a_gap(
    admin: Api, people: People, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_log, "MAX_EVENTS_AT_ONCE", 3)
    start = clock.time()
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert_many([entry_at(start + n, type=f"order.number{n}") for n in range(5)])
    clock.advance(30)
    stream = await listening(admin, **{"Last-Event-ID": str(int((start - 1) * 1_000_000))})
    await stream.until("event", 3)
    await stream.leave()
    assert [one.event for one in stream.events] == ["ready", "gap", "event", "event", "event"]
    assert stream.events[1].data["until"] == stream.events[2].data["created_at"]
    assert told(stream) == ["order.number2", "order.number3", "order.number4"]


async def test_what_a_burst_left_out_is_named_once_and_ends_no_stream(
    admin: Api, people: People, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_log, "MAX_EVENTS_AT_ONCE", 3)
    stream = await listening(admin)
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert_many([entry_at(clock.time(), type=f"order.number{n}") for n in range(9)])
    await stream.until("event", 3)
    # The poll wakes it again and again while the burst is within the last seconds.
    await asyncio.sleep(0.1)
    await emit(admin, "order.after")
    await stream.until("event", 4)
    await stream.leave()
    assert [one.event for one in stream.events] == ["ready", "gap", *["event"] * 4]
    assert told(stream)[-1] == "order.after"


async def test_an_event_that_is_committed_late_is_told_too(
    admin: Api, people: People, clock: ManualClock
) -> None:
    stream = await listening(admin)
    clock.advance(5)
    await emit(admin, "order.placed")
    await stream.until("event")
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert(entry_at(clock.time() - 4, type="order.late"))
    await stream.until("event", 2)
    await stream.leave()
    assert told(stream) == ["order.placed", "order.late"]


async def test_a_stream_is_filtered_as_the_log_is(admin: Api) -> None:
    queries = ("?event_type=order.paid", "?search=seventeen", "?category=agent")
    streams = [await listening(admin, query) for query in queries]
    await emit(admin, "order.placed", text="SEVENTEEN")
    await emit(admin, "agent.custom")
    await emit(admin, "order.paid")
    for stream in streams:
        await stream.until("event")
        await stream.leave()
    assert [told(stream) for stream in streams] == [["order.paid"], ["order.placed"], ["agent.custom"]]
    assert (await admin.get(f"{STREAM}?category=nobody")).status == 422


async def test_another_tenant_and_a_role_without_the_permission_hear_nothing(
    admin: Api, people: People
) -> None:
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    stream = await listening(stranger)
    own = await listening(admin)
    await emit(admin, "order.placed")
    await own.until("event")
    await emit(stranger, "order.theirs")
    await stream.until("event")
    for one in (own, stream):
        await one.leave()
    assert (told(own), told(stream)) == (["order.placed"], ["order.theirs"])
    assert (await (await people.signed_in(Role.agent_user)).get(STREAM)).status == 403


async def test_what_quotes_a_conversation_is_neither_told_nor_found(
    admin: Api, people: People, clock: ManualClock
) -> None:
    viewer = await people.signed_in(Role.viewer)
    streams = [await listening(one) for one in (viewer, admin)]
    said = {"type": "agent.chat.message", "category": "agent", "subject_id": "conv_1", "data": SAID}
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert(entry_at(clock.time(), **said))
        quoted = {"type": "order.quoting", "data": {"text": "plum"}, "conversation_ids": ["conv_1"]}
        await ctx.db.insert(entry_at(clock.time(), **quoted))
        await ctx.db.insert(entry_at(clock.time(), type="order.other", data={"text": "plum"}))
    for stream in streams:
        await stream.until("event", 3)
        await stream.leave()
    assert [b"secret word" in stream.body for stream in streams] == [False, True]
    assert streams[0].body.count(b'"redacted":true') == 2
    assert types(await read_log(viewer, search="PLUM")) == ["order.other"]
    found = types(await read_log(admin, search="PLUM"))
    assert sorted(found) == ["agent.chat.message", "order.other", "order.quoting"]
    assert types(await read_log(viewer, search="conv_1", event_type="agent.chat.message")) == [
        "agent.chat.message"
    ]


async def test_a_search_is_paged_and_combined_with_the_filters(
    admin: Api, people: People, clock: ManualClock
) -> None:
    async with people.context(admin.user.tenant_id) as ctx:
        entries = [entry_at(clock.time() - n, type=f"order.n{n}", data={"customer": "Åsa"}) for n in range(7)]
        await ctx.db.insert_many(entries)
    seen = []
    for page in (1, 2, 3, 4):
        found = await read_log(admin, search="åSA", page=page, per_page=3)
        assert (found["total"], found["total_is_exact"]) == (7, True)
        seen += types(found)
    assert seen == [f"order.n{n}" for n in range(7)]
    for query, count in (
        ({"event_type": "order.n3"}, 1),
        ({"category": "agent"}, 0),
        ({"from": entries[2].created_at}, 3),
        ({"to": entries[5].created_at}, 2),
        ({"correlation_id": entries[1].correlation_id}, 1),
    ):
        assert (await read_log(admin, search="åsa", **query))["total"] == count, query


async def test_a_stream_ends_with_the_permission_and_with_the_server(
    make_service: ServiceMaker, clock: ManualClock
) -> None:
    service = await make_service()
    people = People(service)
    admin = await people.super_admin()
    developer = await people.signed_in(Role.agent_developer)
    stream, staying = await listening(developer), await listening(admin)
    held = (await admin.get("/roles/agent_developer/permissions")).json()["permissions"]
    without = [name for name in held if name != "events:read"]
    await admin.put("/roles/agent_developer/permissions", {"permissions": without})
    await stream.end()
    for instance in instances_of(service):
        instance.draining.set()
    await staying.end()
    assert staying.events[-1].data["code"] == "server_shutdown"


async def test_somebody_has_a_bounded_number_of_streams(service: Service, admin: Api) -> None:
    streams = [await listening(admin) for _ in range(SERVICES * MAX_STREAMS_PER_USER)]
    refused = await admin.get(STREAM)
    assert (refused.status, refused.code, refused.details["window"]) == (429, "rate_limited", "concurrent")
    await asyncio.gather(*(one.leave() for one in streams))
    for instance in instances_of(service):
        assert not instance.states[live_log.LiveLog]._wakeups_by_tenant
