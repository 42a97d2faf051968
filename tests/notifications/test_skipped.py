"""Sending to a type of channels without a channel: the answer says that nothing was sent there."""

from retinue.access.models import Role
from retinue.app import Service
from tests.adapters.notifying_servers import CONFIGS, Vendors
from tests.client import Api
from tests.factories.mails import mails_to
from tests.factories.notifications import NOTIFICATIONS, make_channel, send, titles_of
from tests.factories.people import People
from tests.factories.workflows import execution, make_workflow, node, start

SUBSCRIPTIONS = "/api/v1/event-subscriptions"


async def test_the_answer_names_the_types_to_which_nothing_was_sent(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    person = await people.signed_in(Role.viewer)
    await make_channel(admin, "twilio", CONFIGS["twilio"], active=False)
    sent = await send(
        admin, title="Hi", user_ids=[person.user.id], channels=["sms", "in_app", "team_chat", "email"]
    )
    assert sent["created"] == 1
    assert sent["deliveries"] == []
    assert [(one["channel_type"], one["reason"]) for one in sent["skipped"]] == [
        ("sms", "no_active_channel"),
        ("team_chat", "no_active_channel"),
    ]
    assert "Nothing was sent: there is no active channel of type sms." in sent["skipped"][0]["message"]
    assert len(await mails_to(service, person.user.email)) == 1, "a mail needs no channel"
    assert await titles_of(person) == ["Hi"]

    chat = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    reached = await send(admin, title="Hi", channels=["team_chat"])
    assert ([one["channel_id"] for one in reached["deliveries"]], reached["skipped"]) == ([chat["id"]], [])
    assert (await send(admin, title="Hi", all=True))["skipped"] == [], "nobody asked for a certain way"


async def test_a_mail_to_nobody_whose_address_is_known_is_skipped(people: People, admin: Api) -> None:
    unverified = await people.user(Role.viewer, email_verified=False)
    mail = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"], active=False)
    for channels in (["email"], ["email"]):
        sent = await send(admin, title="Hi", user_ids=[unverified.id], channels=channels)
        assert [(one["channel_type"], one["reason"]) for one in sent["skipped"]] == [
            ("email", "no_verified_address")
        ]
    assert (await admin.put(f"/api/v1/notification-channels/{mail['id']}", {"active": True})).status == 200
    for channels in (["email"], [mail["id"]]):
        sent = await send(admin, title="Hi", user_ids=[unverified.id], channels=channels)
        assert [one["reason"] for one in sent["skipped"]] == ["no_verified_address"]


async def test_a_test_to_oneself_says_that_nothing_was_sent(admin: Api) -> None:
    answer = (await admin.post(f"{NOTIFICATIONS}/test", {"channel_type": "sms"})).json()
    assert answer["success"] is False
    assert answer["message"].startswith("Nothing was sent: there is no active channel of type sms.")


async def test_a_subscription_shows_it_as_its_last_error(service: Service, admin: Api) -> None:
    body = {
        "event_type": "order.placed",
        "action_type": "notification",
        "action_config": {"channel_type": "sms", "title": "Order"},
    }
    made = (await admin.post(SUBSCRIPTIONS, body)).json()
    assert (await admin.post("/api/v1/events/test", {"event_type": "order.placed"})).status == 202
    await service.runner.drain()
    shown = (await admin.get(f"{SUBSCRIPTIONS}/{made['id']}")).json()
    assert shown["last_error"].startswith("Nothing was sent: there is no active channel of type sms.")
    assert (shown["trigger_count"], shown["failure_count"]) == (0, 1)


async def test_the_output_of_a_workflows_node_says_it(service: Service, admin: Api) -> None:
    flow = await make_workflow(admin, node("tell", "notification", title="Hi", channel_type="sms"))
    id = await start(admin, flow)
    await service.runner.drain()
    done = await execution(admin, flow, id)
    assert done["status"] == "completed"
    (run,) = done["nodes"] if "nodes" in done else done["node_runs"]
    assert [one["reason"] for one in run["output"]["skipped"]] == ["no_active_channel"]
