"""Notifications on their way out: by preference or by choice, tried again, then elsewhere."""

import asyncio
from typing import Any, NamedTuple

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.jobs.models import Job
from retinue.notifications import manual_sends
from retinue.notifications.delivery import deliveries
from retinue.notifications.models import ChannelType
from tests.adapters.notifying_servers import CONFIGS, KEY, Vendors, as_json
from tests.client import Api
from tests.factories.happenings import events
from tests.factories.notifications import (
    CHANNELS,
    NOTIFICATIONS,
    get_channel,
    logs_of,
    make_channel,
    notifications_of,
    send,
    titles_of,
)
from tests.factories.people import People


async def prefer(person: Api, type: str, **ways: bool) -> None:
    answer = await person.put(f"{NOTIFICATIONS}/preferences", {"preferences": {type: ways}})
    assert answer.status == 200, answer


def mailed_to(companies: Vendors) -> list[str]:
    mails = [request for request in companies.requests if request.path == "/v3/mail/send"]
    return sorted(mail.json["personalizations"][0]["to"][0]["email"] for mail in mails)


async def test_each_users_preferences_decide_by_which_ways_they_hear(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    mail = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    chat = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    ada, bob = await people.signed_in(Role.viewer), await people.signed_in(Role.viewer)
    await prefer(ada, "deploys", in_app=False, email=True, team_chat=True)
    await prefer(bob, "deploys", team_chat=True)
    body = {"type": "deploys", "title": "Deployed", "message": "It is <b>live</b>."}
    sent = await send(admin, **body, user_ids=[ada.user.id, bob.user.id])
    assert sent["created"] == len(sent["notification_ids"]) == 1, "ada wants none here"
    assert sorted(one["channel_id"] for one in sent["deliveries"]) == sorted([mail["id"], chat["id"]])
    assert (await notifications_of(ada))["total"] == 0
    assert await titles_of(bob) == ["Deployed"]
    assert companies.requests == [], "nothing leaves before the commit"
    await service.runner.drain()
    assert mailed_to(companies) == [ada.user.email]
    (said,) = [one.json["text"] for one in companies.requests if one.path.startswith("/services/")]
    assert said == "*Deployed*\nIt is &lt;b&gt;live&lt;/b&gt;."


@pytest.mark.usefixtures("companies")
async def test_a_delivery_is_logged_with_its_recipient_and_its_channel_was_used(
    service: Service, people: People, admin: Api
) -> None:
    mail = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    ada = await people.signed_in(Role.viewer)
    await prefer(ada, "deploys", in_app=False, email=True)
    sent = await send(admin, type="deploys", title="Deployed", user_ids=[ada.user.id])
    await service.runner.drain()
    (log,) = await logs_of(admin, mail["id"], status="delivered")
    assert {"subject": "Deployed", "recipient": ada.user.email, "type": "deploys"}.items() <= log.items()
    assert log["id"] in {one["log_id"] for one in sent["deliveries"]}
    assert (await get_channel(admin, mail["id"]))["last_used_at"] is not None


async def test_only_active_users_of_the_tenant_are_notified_and_only_verified_ones_by_mail(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    ada, bob = await people.signed_in(Role.viewer), await people.signed_in(Role.viewer)
    unverified = await people.user(Role.viewer, email_verified=False)
    gone = await people.user(Role.viewer, status="inactive")
    elsewhere = await people.signed_in(Role.viewer, await people.tenant("Other"))
    for person in (ada, bob):
        await prefer(person, "deploys", email=True)
    by_role = await send(admin, type="deploys", title="Deployed", roles=["viewer"])
    assert (by_role["created"], len(by_role["deliveries"])) == (3, 2)
    everyone = await send(admin, type="approval_requested", title="Please approve", all=True)
    assert everyone["created"] == 4, "ada, bob, the unverified one and the administrator"
    await service.runner.drain()
    assert mailed_to(companies) == sorted([ada.user.email, bob.user.email] * 2 + [admin.user.email])
    assert (await notifications_of(elsewhere))["total"] == 0
    named = await send(admin, type="deploys", title="For you", user_ids=[unverified.id, gone.id])
    assert (named["created"], named["deliveries"]) == (1, [])


class Chats(NamedTuple):
    """Two active channels of a team's chat in the order of their priority, and one of another type."""

    first: str
    last: str
    other: str


@pytest.fixture
async def chats(admin: Api, companies: Vendors) -> Chats:
    config = CONFIGS["slack_bot"]
    first = await make_channel(admin, "slack_bot", config, priority=1)
    await make_channel(admin, "slack_bot", config, active=False, priority=2)
    last = await make_channel(admin, "slack_bot", {**config, "default_channel": "C_LAST"}, priority=3)
    other = await make_channel(admin, "http", {"url": f"{companies.url}/hook"}, priority=2)
    return Chats(first["id"], last["id"], other["id"])


async def fallbacks(people: People) -> list[str | None]:
    """Return the channel that took over in each failure."""
    return [event.data["fallback_channel_id"] for event in await events(people, "system.channel.failed")]


async def test_a_failing_channel_is_tried_three_times_and_then_the_next_one_is(
    service: Service, people: People, admin: Api, companies: Vendors, chats: Chats, clock: ManualClock
) -> None:
    companies.answers.extend([as_json({"ok": False, "error": f"internal_error {KEY}"}, 500)] * 3)
    sent = await send(admin, title="Down", message="{{7*7}} ${7*7} %(x)s", channels=["team_chat"])
    times = []
    for wait_s in (0, 29, 5, 290, 45):
        clock.advance(wait_s)
        before = len(companies.requests)
        await service.runner.drain()
        times.append(len(companies.requests) - before)
    assert times == [1, 0, 1, 0, 2], "at once, after 30 seconds, after 5 minutes, and then by the next one"
    assert [one.json["channel"] for one in companies.requests] == ["C024BE91L"] * 3 + ["C_LAST"]
    assert companies.last.json["text"] == "*Down*\n{{7*7}} ${7*7} %(x)s"
    (log,) = await logs_of(admin, chats.first)
    assert (log["id"], log["status"], log["attempts"], log["error_code"]) == (
        sent["deliveries"][0]["log_id"],
        "failed",
        3,
        "delivery_failed",
    )
    assert KEY not in log["error"]
    (again,) = await logs_of(admin, chats.last)
    assert (again["status"], again["fallback_of"]) == ("delivered", log["id"])
    assert await fallbacks(people) == [chats.last]
    async with people.context() as ctx:
        assert await ctx.system("test").count(Job, queue="notifications") == 0


async def test_a_message_refused_for_good_goes_at_once_to_the_next_channel_of_its_type(
    service: Service, people: People, admin: Api, companies: Vendors, chats: Chats
) -> None:
    companies.answers.extend([as_json({"ok": False, "error": "channel_not_found"})] * 2)
    await send(admin, title="Nowhere", channels=["team_chat"])
    await service.runner.drain()
    assert len(companies.requests) == 2, "what will never be taken is not tried again"
    assert await fallbacks(people) == [chats.last, None]
    assert await logs_of(admin, chats.other) == [], "only channels of the same type"


async def test_a_delivery_waits_as_long_as_retry_after_says(
    service: Service, admin: Api, companies: Vendors, chats: Chats, clock: ManualClock
) -> None:
    companies.answers.append(as_json({"ok": False, "error": "ratelimited"}, 429, **{"Retry-After": "90"}))
    await send(admin, title="Slow down", channels=[chats.first])
    for wait_s, status in ((0, "pending"), (60, "pending"), (31, "delivered")):
        clock.advance(wait_s)
        await service.runner.drain()
        assert (await logs_of(admin, chats.first))[0]["status"] == status, "Retry-After lengthens the wait"


async def test_a_message_for_one_named_channel_goes_to_no_other(
    service: Service, people: People, admin: Api, companies: Vendors, chats: Chats
) -> None:
    companies.answers.append(as_json({"ok": False, "error": "is_archived"}))
    await send(admin, title="Only there", channels=[chats.first])
    await service.runner.drain()
    assert await logs_of(admin, chats.last) == []
    assert await fallbacks(people) == [None]
    async with people.context() as ctx:
        assert await ctx.system("test").count(Job, queue="notifications") == 0


@pytest.fixture
async def mail_id(
    service: Service, people: People, admin: Api, companies: Vendors, clock: ManualClock
) -> str:
    """A channel that delivered two of three mails on one day; on the next a hook took one of two messages."""
    mail = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    hook = await make_channel(admin, "http", {"url": f"{companies.url}/hook"})
    await make_channel(admin, "vonage", CONFIGS["vonage"], active=False)
    for number in range(3):
        await send(admin, title=f"Mail {number}", channels=["email"], all=True)
    companies.answers.append(as_json({}, 400))
    await service.runner.drain()
    clock.advance(26 * 3600)
    admin = await people.super_admin()
    await send(admin, title="Hook", channels=[hook["id"]])
    await service.runner.drain()
    await send(admin, title="Pending", channels=[hook["id"]])
    return mail["id"]


async def test_statistics_of_a_channel_count_what_it_sent(people: People, mail_id: str) -> None:
    admin = await people.super_admin()
    week = (await admin.get(f"{CHANNELS}/{mail_id}/stats")).json()
    assert set(week) == {
        "channel_id", "period", "total_sent", "delivered", "failed", "pending", "success_rate",
        "avg_delivery_time_ms", "last_delivery_at",
    }  # fmt: skip
    counted = [
        week[name] for name in ("period", "total_sent", "delivered", "failed", "pending", "success_rate")
    ]
    assert counted == ["7d", 3, 2, 1, 0, 66.7]
    day = (await admin.get(f"{CHANNELS}/{mail_id}/stats?period=24h")).json()
    assert (day["total_sent"], day["success_rate"]) == (0, 0)


async def test_statistics_of_all_channels_are_grouped_by_type_provider_and_day(
    people: People, mail_id: str
) -> None:
    admin = await people.super_admin()
    every = (await admin.get(f"{CHANNELS}/stats?period=30d")).json()
    assert [every[name] for name in ("total_channels", "active_channels", "total_sent", "pending")] == [
        3,
        2,
        5,
        1,
    ]
    parts = (await admin.get(f"{CHANNELS}/stats/breakdown")).json()
    assert {one["type"]: (one["delivered"], one["failed"]) for one in parts["by_type"]} == {
        "email": (2, 1),
        "webhook": (1, 0),
    }
    assert [one["provider"] for one in parts["by_provider"]] == ["http", "sendgrid"]
    assert [(one["date"], one["total_sent"]) for one in parts["by_period"]] == [
        ("2027-01-15", 3),
        ("2027-01-16", 2),
    ]
    assert (await admin.get(f"{CHANNELS}/stats?period=1y")).status == 422
    assert (await admin.delete(f"{CHANNELS}/{mail_id}")).status == 204
    assert (await admin.get(f"{CHANNELS}/stats/breakdown")).json()["by_type"] == parts["by_type"]


async def test_statistics_of_each_channel_stand_beside_those_of_all(people: People, mail_id: str) -> None:
    admin = await people.super_admin()
    assert "by_channel" not in (await admin.get(f"{CHANNELS}/stats")).json()
    every = (await admin.get(f"{CHANNELS}/stats?period=14d&include=channels")).json()
    by_provider = {one["id"]: one["provider"] for one in (await admin.get(CHANNELS)).json()["data"]}
    counted = {
        by_provider[one["channel_id"]]: (one["delivered"], one["failed"], one["pending"], one["by_day"])
        for one in every["by_channel"]
    }
    first, second = {"date": "2027-01-15", "total_sent": 3}, {"date": "2027-01-16", "total_sent": 2}
    assert counted == {
        "sendgrid": (2, 1, 0, [{**first, "delivered": 2, "failed": 1}]),
        "http": (1, 0, 1, [{**second, "delivered": 1, "failed": 0}]),
    }
    week = (await admin.get(f"{CHANNELS}/{mail_id}/stats")).json()
    (mail,) = [one for one in every["by_channel"] if one["channel_id"] == mail_id]
    shared = mail.keys() & week.keys()
    assert {name: mail[name] for name in shared} == {name: week[name] for name in shared}
    assert (await admin.get(f"{CHANNELS}/stats?include=agents")).status == 422
    assert (await admin.delete(f"{CHANNELS}/{mail_id}")).status == 204
    left = (await admin.get(f"{CHANNELS}/stats?period=14d&include=channels")).json()
    assert (len(left["by_channel"]), left["total_sent"]) == (1, 5)


async def test_who_sends_by_hand_says_to_whom_and_how(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    hook = await make_channel(admin, "http", {"url": f"{companies.url}/hook"})
    off = await make_channel(admin, "http", {"url": f"{companies.url}/hook"}, active=False)
    stranger = await people.user(Role.viewer, await people.tenant("Other"))
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({}, 422, "validation_error"),
        ({"user_ids": [stranger.id]}, 422, "validation_error"),
        ({"user_ids": ["x"] * 1001}, 422, "validation_error"),
        ({"roles": ["king"]}, 422, "validation_error"),
        ({"all": True, "channels": ["nch_none"]}, 404, "channel_not_found"),
        ({"all": True, "channels": [off["id"]]}, 409, "channel_inactive"),
        ({"all": True, "data": {"x": "y" * 20_000}}, 422, "validation_error"),
        ({"all": True, "action_url": "javascript:alert(1)"}, 422, "validation_error"),
        ({"all": True, "title": "a\r\nBcc: b@example.com"}, 422, "validation_error"),
        ({"all": True, "title": "  "}, 422, "validation_error"),
        ({"all": True, "type": "No Spaces"}, 422, "validation_error"),
    ]
    for body, status, code in cases:
        answer = await admin.post(NOTIFICATIONS, {"title": "Hello", **body})
        assert (answer.status, answer.code) == (status, code), (body, answer)
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.post(NOTIFICATIONS, {"title": "Hello", "all": True})).status == 403
    assert (await notifications_of(admin))["total"] == 0

    more = {"action_url": "/agents/1", "priority": "high", "data": {"n": 1}}
    sent = await send(
        admin,
        title="To the hook",
        message="Look",
        channels=[hook["id"], "in_app"],
        user_ids=[viewer.user.id],
        **more,
    )
    await service.runner.drain()
    hooked = companies.last.json
    assert (hooked["id"], hooked["title"]) == (sent["deliveries"][0]["log_id"], "To the hook")
    assert hooked["message"] == "Look\n\nhttp://127.0.0.1:8080/agents/1"
    assert (hooked["data"]["data"], hooked["data"]["priority"]) == ({"n": 1}, "high")
    (shown,) = (await notifications_of(viewer))["data"]
    assert set(shown) == {
        "id", "type", "title", "message", "read", "data", "read_at", "priority", "action_url",
        "correlation_id", "created_at",
    }  # fmt: skip
    assert [shown[name] for name in ("type", "priority", "action_url", "data", "read")] == [
        "manual", "high", "/agents/1", {"n": 1}, False,
    ]  # fmt: skip


async def test_nobody_is_told_the_same_twice_within_a_day(
    service: Service, people: People, admin: Api, companies: Vendors, clock: ManualClock
) -> None:
    await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    viewer = await people.signed_in(Role.viewer)
    to_viewer = {"user_ids": [viewer.user.id], "channels": ["in_app", "email"]}
    for _ in range(2):
        await send(admin, dedupe_key="disk-full", **to_viewer)
    both = await send(
        admin, dedupe_key="disk-full", **{**to_viewer, "user_ids": [viewer.user.id, admin.user.id]}
    )
    assert (both["created"], len(both["deliveries"])) == (1, 1), "only who was not told yet"
    clock.advance(24 * 3600 + 1)
    admin, viewer = await people.super_admin(), await people.sign_in(viewer.user)
    assert (await send(admin, dedupe_key="disk-full", **to_viewer))["created"] == 1
    assert (await notifications_of(viewer))["total"] == 2
    await service.runner.drain()
    assert len(companies.requests) == 3


@pytest.mark.usefixtures("companies")
async def test_a_recipient_gets_only_so_many_messages_an_hour(
    service: Service, people: People, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    viewer = await people.user(Role.viewer)
    monkeypatch.setattr(deliveries, "MAX_PER_RECIPIENT_PER_HOUR", 2)
    for _ in range(3):
        await send(admin, user_ids=[viewer.id], channels=["in_app", "email"])
    await service.runner.drain()
    logged = await logs_of(admin, mail["id"])
    assert [one["error_code"] for one in logged].count("rate_limited") == 1


@pytest.mark.usefixtures("companies")
async def test_a_tenant_sends_only_so_many_mails_a_day_tests_among_them(
    service: Service, people: People, admin: Api, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    viewer = await people.user(Role.viewer)
    monkeypatch.setattr(deliveries, "MAX_PER_DAY", {ChannelType.email: 1})

    async def send_mail() -> dict[str, Any]:
        await send(admin, user_ids=[viewer.id], channels=["in_app", "email"])
        await service.runner.drain()
        return (await logs_of(admin, mail["id"]))[0]

    assert (await send_mail())["status"] == "delivered"
    assert (await send_mail())["error_code"] == "rate_limited"
    tested = (await admin.post(f"{CHANNELS}/{mail['id']}/test")).json()
    assert not tested["success"], "tests cost as much as any other"
    clock.advance(24 * 3600)
    admin = await people.super_admin()
    assert (await send_mail())["status"] == "delivered"


async def test_a_tenant_sends_by_hand_only_so_often_a_minute(
    admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manual_sends, "MAX_SENDS_PER_MINUTE", 1)
    await send(admin, all=True)
    answer = await admin.post(NOTIFICATIONS, {"title": "Hello", "all": True})
    assert (answer.status, answer.code) == (429, "rate_limited")
    assert {"limit", "window", "retry_after"} == set(answer.details)


async def test_those_who_use_the_same_channels_in_another_order_do_not_wait_for_each_other(
    admin: Api, companies: Vendors
) -> None:
    config = companies.config("slack_webhook")
    ids = [(await make_channel(admin, "slack_webhook", config))["id"] for _ in range(2)]
    await asyncio.gather(*(send(admin, channels=ids[:: 1 if n % 2 else -1]) for n in range(24)))
    for id in ids:
        assert (await admin.get(f"{CHANNELS}/{id}/stats")).json()["total_sent"] == 24
