"""Events of which somebody hears: by themselves, and by subscriptions."""

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


async def test_a_subscription_can_notify(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    viewer = await people.signed_in(Role.viewer)
    chat = await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    subscription = {"event_type": "order.placed", "action_type": "notification"}
    to_chat = {
        "channel_id": chat["id"],
        "title": "Order {{data.id}}\r\nBcc: x",
        "message": "{{data.total}} {{data.nothing}}{{7*7}} {{data.items}} {0.__class__}",
        "recipients": {"user_ids": [viewer.user.id]},
    }
    by_preference = {"recipients": {"roles": ["viewer"]}, "title": "{{data.total}}", "more": "is kept"}
    made = []
    for config in ({}, to_chat, by_preference):
        answer = await admin.post(SUBSCRIPTIONS, {**subscription, "action_config": config})
        assert answer.status == 201, answer
        made.append(answer.json())
    stranger = await people.user(Role.viewer, await people.tenant("Other"))
    for wrong in (
        {"channel_id": "nch_none"},
        {"channel_type": "fax"},
        {"recipients": {"user_ids": [stranger.id]}},
        {"recipients": {"roles": ["king"]}},
        {"title": 7},
    ):
        answer = await admin.post(SUBSCRIPTIONS, {**subscription, "action_config": wrong})
        assert (answer.status, answer.code) == (422, "validation_error"), (wrong, answer)

    data = {"id": 7, "total": 12.5, "items": ["a"]}
    answer = await admin.post("/api/v1/events/test", {"event_type": "order.placed", "data": data})
    assert answer.status == 202, answer
    await service.runner.drain()
    (mine,) = (await notifications_of(admin))["data"]
    assert (mine["title"], mine["type"]) == ("order.placed", "order.placed")
    assert data.items() <= mine["data"]["data"].items()
    assert await titles_of(viewer) == ["12.5"]
    assert companies.last.json["text"] == '*Order 7 Bcc: x*\n12.5 {{7*7}} ["a"] {0.__class__}'

    assert (await admin.put(f"{CHANNELS}/{chat['id']}", {"active": False})).status == 200
    await admin.post("/api/v1/events/test", {"event_type": "order.placed", "data": data})
    await service.runner.drain()
    failed = (await admin.get(f"{SUBSCRIPTIONS}/{made[1]['id']}")).json()
    assert failed["last_error"] is not None
    assert len(await logs_of(admin, chat["id"])) == 1
    assert await events(people, "system.channel.failed") == []
