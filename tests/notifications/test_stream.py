"""Notifications as they come: over server-sent events, from this process and from others."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.limits.open_streams import MAX_STREAMS_PER_USER
from retinue.notifications import live_inboxes
from tests.chat.listening import Listener
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.notifications import NOTIFICATIONS, notifications_of, send
from tests.factories.people import People
from tests.services import SERVICES, instances_of

STREAM = f"{NOTIFICATIONS}/stream"


def list_events(listener: Listener) -> list[tuple[str, int, str | int]]:
    return [(one.event, one.id, one.data.get("title", one.data.get("count"))) for one in listener.events]


async def test_a_stream_tells_what_is_new_and_what_was_missed(
    people: People, admin: Api, clock: ManualClock, service: Service
) -> None:
    ada, bob = await people.signed_in(Role.viewer), await people.signed_in(Role.viewer)
    await send(admin, title="Before", roles=["viewer"])
    listening = Listener(ada, STREAM, method="GET")
    await listening.until("unread")
    assert list_events(listening) == [("unread", 1, 1)], "who comes without an id hears what is new"
    await send(admin, title="One", user_ids=[ada.user.id, bob.user.id])
    await listening.until("notification")
    await listening.until("unread", 2)
    first = (await notifications_of(ada))["data"][0]
    assert listening.events[1].data == first
    await ada.post(f"{NOTIFICATIONS}/{first['id']}/read")
    await listening.until("unread", 3)
    await send(admin, title="Not hers", user_ids=[bob.user.id])
    await listening.leave()
    assert list_events(listening) == [
        ("unread", 1, 1),
        ("notification", 2, "One"),
        ("unread", 2, 2),
        ("unread", 2, 1),
    ]

    for number in range(3):
        await send(admin, title=f"Missed {number}", user_ids=[ada.user.id])
    for last_id, missed in (("2", 3), ("4", 1), ("999", 0)):
        back = Listener(ada, STREAM, method="GET", headers={"Last-Event-ID": last_id})
        await back.until("unread")
        await back.leave()
        assert list_events(back) == [
            *(("notification", 5 - left, f"Missed {2 - left}") for left in reversed(range(missed))),
            ("unread", 5, 4),
        ]
    for wrong in ("x", "-1", "1" * 30):
        assert (await ada.get(STREAM, headers={"Last-Event-ID": wrong})).status == 422

    open_streams = [Listener(ada, STREAM, method="GET") for _ in range(SERVICES * MAX_STREAMS_PER_USER)]
    for one in open_streams:
        await one.until("unread")
    refused = await ada.get(STREAM)
    assert (refused.status, refused.code, refused.details["window"]) == (429, "rate_limited", "concurrent")
    assert int(refused.headers["x-ratelimit-window"]) > 0
    await asyncio.gather(*(one.leave() for one in open_streams))
    for instance in instances_of(service):
        assert instance.states[live_inboxes.LiveInboxes]._listeners == {}


@pytest.mark.one_service("it has a second process of its own, and ends the first")
async def test_a_stream_hears_of_what_another_process_stores(
    make_service: ServiceMaker, clock: ManualClock, monkeypatch
) -> None:
    monkeypatch.setattr(live_inboxes, "POLL_INTERVAL_SECONDS", 0.02)
    here = await make_service()
    elsewhere = Service(here.settings, clock)
    await elsewhere.start()
    try:
        people = People(here)
        viewer = await people.signed_in(Role.viewer)
        listening = Listener(viewer, STREAM, method="GET")
        await listening.until("unread")
        await send(await People(elsewhere).super_admin(), title="From afar", all=True)
        await listening.until("notification")
        await listening.until("unread", 2)
        assert list_events(listening)[1:] == [("notification", 1, "From afar"), ("unread", 1, 1)]
        here.instance.draining.set()
        await listening.end()
        assert listening.events[-1].data["code"] == "server_shutdown"
    finally:
        await elsewhere.stop()
