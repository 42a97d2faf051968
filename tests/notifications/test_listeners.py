"""Events of which somebody hears: by themselves, and by subscriptions."""

from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.auth.events import RefreshTokenReused
from retinue.kit.clock import ManualClock
from retinue.kit.events.declare import EVENT_TYPES
from retinue.knowledge.events import TrainingFailed
from retinue.notifications.event_notifications import EVENT_NOTIFICATIONS
from tests.adapters.notifying_servers import CONFIGS, Vendors
from tests.client import Api
from tests.factories import credentials
from tests.factories.happenings import events
from tests.factories.notifications import CHANNELS, logs_of, make_channel, notifications_of, titles_of
from tests.factories.people import People

SUBSCRIPTIONS = "/api/v1/event-subscriptions"
_TRAINING = {"agent_id": "agt_1", "knowledge_base_id": "kb_1", "job_id": "trn_1"}
_COUNTS = {"documents_total": 3, "documents_done": 0, "documents_failed": 3}


async def test_administrators_and_owners_hear_of_what_went_wrong(
    service: Service, people: People, admin: Api, clock: ManualClock, companies: Vendors
) -> None:
    assert set(EVENT_NOTIFICATIONS) <= set(EVENT_TYPES)
    await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    tenant = await people.default_tenant()
    owner = await people.signed_in(Role.agent_developer)
    bystander = await people.signed_in(Role.agent_developer)
    soon = {"expires_at": "2027-01-18T08:00:00Z"}
    await credentials.create(owner, name="CRM\r\nkey", **soon)
    async with people.context(tenant.id) as ctx:
        ctx.emit(RefreshTokenReused(user_id=bystander.user.id, session_id="ses_1"))
        error = {"code": "parse_error", "message": "The file is damaged."}
        ctx.emit(TrainingFailed(**_TRAINING, **_COUNTS, error=error))
        ctx.emit(TrainingFailed(**_TRAINING, **_COUNTS, error=error), test=True)
    await service.runner.drain()
    clock.advance(400)
    await service.runner.drain()
    assert sorted(await titles_of(admin)) == [
        "Credential CRM key expires soon",
        "Security alert: a session was ended",
        "Training failed",
    ]
    screens = {one["title"]: one["action_url"] for one in (await notifications_of(admin))["data"]}
    assert screens["Training failed"] == f"/console/agents/{_TRAINING['agent_id']}/knowledge"
    assert await titles_of(owner) == ["Credential CRM key expires soon"]
    (alert,) = (await notifications_of(bystander))["data"]
    assert (alert["type"], alert["priority"]) == ("security_alert", "high")
    assert alert["data"]["event_type"] == "system.auth.token_reuse"
    mailed = [request.json for request in companies.requests]
    assert sorted(
        (mail["subject"], mail["personalizations"][0]["to"][0]["email"]) for mail in mailed
    ) == sorted(
        [
            ("Credential CRM key expires soon", admin.user.email),
            ("Credential CRM key expires soon", owner.user.email),
            ("Security alert: a session was ended", admin.user.email),
            ("Security alert: a session was ended", bystander.user.email),
        ]
    )


SUBSCRIPTION = {"event_type": "order.placed", "action_type": "notification"}
ORDER = {"id": 7, "total": 12.5, "items": ["a"]}


async def subscribe(admin: Api, **config: object) -> dict[str, Any]:
    answer = await admin.post(SUBSCRIPTIONS, {**SUBSCRIPTION, "action_config": config})
    assert answer.status == 201, answer
    return answer.json()


async def place_order(service: Service, admin: Api) -> None:
    answer = await admin.post("/api/v1/events/test", {"event_type": "order.placed", "data": ORDER})
    assert answer.status == 202, answer
    await service.runner.drain()


async def test_a_subscription_notifies_its_creator_or_whom_it_names(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    viewer = await people.signed_in(Role.viewer)
    chat = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    await subscribe(admin)
    await subscribe(
        admin,
        channel_id=chat["id"],
        title="Order {{data.id}}\r\nBcc: x",
        message="{{data.total}} {{data.nothing}}{{7*7}} {{data.items}} {0.__class__}",
        recipients={"user_ids": [viewer.user.id]},
    )
    await subscribe(admin, recipients={"roles": ["viewer"]}, title="{{data.total}}", more="is kept")
    await place_order(service, admin)
    (mine,) = (await notifications_of(admin))["data"]
    assert (mine["title"], mine["type"]) == ("order.placed", "order.placed")
    assert ORDER.items() <= mine["data"]["data"].items()
    assert await titles_of(viewer) == ["12.5"]
    assert companies.last.json["text"] == '*Order 7 Bcc: x*\n12.5 {{7*7}} ["a"] {0.__class__}'


async def test_a_subscription_that_can_notify_nobody_is_refused(people: People, admin: Api) -> None:
    stranger = await people.user(Role.viewer, await people.tenant("Other"))
    for wrong in (
        {"channel_id": "nch_none"},
        {"channel_type": "fax"},
        {"recipients": {"user_ids": [stranger.id]}},
        {"recipients": {"roles": ["king"]}},
        {"title": 7},
    ):
        answer = await admin.post(SUBSCRIPTIONS, {**SUBSCRIPTION, "action_config": wrong})
        assert (answer.status, answer.code) == (422, "validation_error"), (wrong, answer)


async def test_a_subscription_to_a_channel_that_was_switched_off_shows_its_error(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    chat = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    subscription = await subscribe(admin, channel_id=chat["id"], recipients={"user_ids": [admin.user.id]})
    await place_order(service, admin)
    assert (await admin.put(f"{CHANNELS}/{chat['id']}", {"active": False})).status == 200
    await place_order(service, admin)
    failed = (await admin.get(f"{SUBSCRIPTIONS}/{subscription['id']}")).json()
    assert failed["last_error"] is not None
    assert len(await logs_of(admin, chat["id"])) == 1
    assert await events(people, "system.channel.failed") == []
