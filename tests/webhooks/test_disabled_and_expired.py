"""Tests of failing webhooks, which are disabled, and of old deliveries, which are deleted."""

from retinue.kit.jobs.models import Job
from retinue.webhooks.models import WebhookAttempt, WebhookDelivery, WebhookHour, WebhookMessage
from tests.factories.happenings import events, only_event

DAY_S = 24 * 3600


async def test_a_webhook_that_only_fails_for_five_days_is_disabled_and_can_be_switched_on_again(
    hooks, receiver, people
):
    receiver.default = 500
    made = await hooks.make()
    await hooks.happen()
    await hooks.work()
    for _ in range(2):
        hooks.clock.advance(2 * DAY_S)
        await hooks.happen()
        await hooks.work()
    assert (await hooks.read(made))["active"]
    hooks.clock.advance(1.5 * DAY_S)
    await hooks.work()
    shown = await hooks.read(made)
    assert (shown["active"], shown["disabled_reason"]) == (False, "Every attempt failed for five days.")
    told = await only_event(people, "system.webhook.disabled")
    assert (told["webhook_id"], told["url"]) == (made["id"], made["url"])
    assert told["failing_since"] < shown["last_delivery_at"]
    sent = len(receiver.received)
    await hooks.happen()
    hooks.clock.advance(2 * DAY_S)
    await hooks.work()
    assert len(receiver.received) == sent, "nothing goes to a disabled webhook"
    assert await hooks.deliveries(made, status="pending") == []

    receiver.default = 200
    again = (await hooks.call(made, "PUT", "", json={"active": True})).json()
    assert (again["active"], again["disabled_reason"]) == (True, None)
    await hooks.happen()
    await hooks.work()
    assert (await hooks.deliveries(made))[0]["status"] == "delivered"


async def test_one_success_starts_the_five_days_anew(hooks, receiver, people):
    made = await hooks.make()
    for status in (500, 200, 500, 500):
        receiver.default = status
        await hooks.happen()
        await hooks.work()
        hooks.clock.advance(2.4 * DAY_S)
    await hooks.work()
    assert (await hooks.read(made))["active"]
    assert await events(people, "system.webhook.disabled") == []


async def rows(hooks):
    async with hooks.people.context(hooks.admin.user.tenant_id) as ctx:
        return [
            await ctx.db.count(record)
            for record in (WebhookDelivery, WebhookAttempt, WebhookMessage, WebhookHour)
        ]


async def test_deliveries_are_kept_for_thirty_days_and_their_sums_for_ninety(hooks, receiver):
    made = await hooks.make()
    gone = await hooks.make("/gone")
    for _ in range(3):
        await hooks.happen()
    await hooks.work()
    await hooks.call(gone, "DELETE", "")
    hooks.clock.advance(29 * DAY_S)
    receiver.default = 500
    await hooks.happen()
    await hooks.work()
    assert await rows(hooks) == [7, 7, 4, 2]
    hooks.clock.advance(1.1 * DAY_S)
    await hooks.work()
    assert await rows(hooks) == [1, 2, 4, 3], "what is younger has just been tried again"
    (left,) = await hooks.deliveries(made)
    assert left["status"] == "pending"
    shown = (await hooks.call(made, "GET", "/executions", query={"status": "delivered"})).json()
    assert (shown["total"], shown["data"]) == (0, [])
    # An attempt that is made before the purge begins another hour, which is kept for ninety days more.
    for days in (70, 92, 92):
        hooks.clock.advance(days * DAY_S)
        await hooks.work()
    assert await rows(hooks) == [0, 0, 0, 0]


async def test_a_delivery_whose_job_is_lost_does_not_wait_for_ever(hooks, receiver, people, admin):
    receiver.default = 500
    made = await hooks.make()
    await hooks.happen()
    await hooks.work()
    async with people.context(admin.user.tenant_id) as ctx:
        (job,) = await ctx.db.all(Job, lane=made["id"])
        await ctx.db.delete(job)
    hooks.clock.advance(5 * DAY_S)
    await hooks.work()
    shown = await hooks.only_delivery(made)
    assert (shown["status"], shown["error"], shown["attempt"]) == ("failed", "interrupted", 1)
