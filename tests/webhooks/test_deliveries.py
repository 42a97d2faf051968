"""Tests of deliveries as the owner of a webhook sees them, and of retries."""

from retinue.kit.clock import instant_from_timestamp
from retinue.kit.jobs.models import Job
from retinue.kit.webhook_signing import ATTEMPT_DELAYS_SECONDS
from retinue.webhooks.models import DeliveryStatus, WebhookDelivery
from tests.webhooks.hooks import PATH

SHOWN = {
    "id", "event_id", "event_type", "status", "response_code", "response_time_ms", "attempt", "created_at",
    "next_attempt_at", "completed_at", "error", "error_message", "test",
}  # fmt: skip


async def totals(hooks, webhook):
    """Return the total of each status; they must agree with the rows."""
    found = {}
    for status in (None, "pending", "delivered", "failed"):
        query = {"per_page": 1, **({"status": status} if status else {})}
        answer = await hooks.call(webhook, "GET", "/executions", query=query)
        found[status] = answer.json()["total"]
    async with hooks.people.context(hooks.admin.user.tenant_id) as ctx:
        rows = await ctx.db.all(WebhookDelivery, webhook_id=webhook["id"])
    assert found[None] == len(rows)
    for status in DeliveryStatus:
        assert found[status] == sum(row.status is status for row in rows), status
    return found


async def three_deliveries(hooks, receiver):
    """Return a webhook and the ids of three events, of which the receiver refused the second."""
    receiver.answers["/hook"] = [(200, {}, b"ok"), (500, {}, b"no"), (200, {}, b"")]
    made = await hooks.make()
    ids = []
    for _ in range(3):
        ids.append(await hooks.happen())
        await hooks.work()
        hooks.clock.advance(1)
    return made, ids


async def test_deliveries_are_listed_by_status_newest_first(hooks, receiver):
    made, ids = await three_deliveries(hooks, receiver)
    listed = await hooks.deliveries(made)
    assert [one["event_id"] for one in listed] == ids[::-1]
    assert all(set(one) == SHOWN for one in listed)
    assert [one["event_id"] for one in await hooks.deliveries(made, page=2, per_page=2)] == ids[:1]
    assert [one["event_id"] for one in await hooks.deliveries(made, status="pending")] == [ids[1]]
    assert await totals(hooks, made) == {None: 3, "pending": 1, "delivered": 2, "failed": 0}
    refused = await hooks.call(made, "GET", "/executions", query={"status": "lost"})
    assert (refused.status, list(refused.details)) == (422, ["status"])
    read = await hooks.read(made)
    assert (read["success_rate"], bool(read["last_delivery_at"])) == (100.0, True)


async def test_a_delivery_is_shown_with_its_attempts_and_only_under_its_webhook(hooks, receiver):
    made, _ = await three_deliveries(hooks, receiver)
    listed = await hooks.deliveries(made)
    shown = await hooks.detail(made, listed[2])
    assert set(shown) == SHOWN | {"request", "attempts"}
    (attempt,) = shown["attempts"]
    assert {name: attempt[name] for name in ("attempt", "response_code", "response_body", "error")} == {
        "attempt": 1,
        "response_code": 200,
        "response_body": "ok",
        "error": None,
    }
    other = await hooks.make("/other")
    for webhook, id in ((other, listed[0]["id"]), (made, "dlv_none")):
        for method, rest in (("GET", ""), ("POST", "/retry")):
            answer = await hooks.call(webhook, method, f"/executions/{id}{rest}")
            assert (answer.status, answer.code) == (404, "delivery_not_found")


async def test_of_an_answer_the_beginning_is_kept_without_our_secrets(hooks, receiver):
    made = await hooks.make(headers={"Authorization": "Bearer of-the-customer"})
    echo = f"{made['secret']} Bearer of-the-customer \0 \xff".encode("latin-1")
    receiver.answers["/hook"] = [(200, {}, echo), (200, {}, b"x" * 2_000_000), (200, {}, b"\xff" * 5000)]
    receiver.answers["/hook"].append((200, {}, b"x" * 4080 + b"Bearer of-the-customer"))
    for _ in range(4):
        await hooks.happen()
        await hooks.work()
    listed = await hooks.deliveries(made, status="delivered")
    shown = [(await hooks.detail(made, one))["attempts"][0] for one in reversed(listed)]
    bodies = [attempt["response_body"] for attempt in shown]
    assert bodies[0].startswith("*** *** ")
    assert bodies[1] in {None, "x" * 4096}
    assert len(bodies[2].encode()) <= 4096
    assert bodies[3] == "x" * 4080 + "***", "not even half of it"


async def failed_once(hooks, receiver):
    """Return a webhook and its delivery, whose first attempt failed."""
    receiver.answers["/hook"] = [(500, {}, b"")]
    made = await hooks.make()
    await hooks.happen()
    await hooks.work()
    return made, await hooks.only_delivery(made)


async def retry(hooks, made):
    """Ask for one more attempt; return the answer and the delivery after it."""
    delivery = await hooks.only_delivery(made)
    answer = await hooks.call(made, "POST", f"/executions/{delivery['id']}/retry")
    assert answer.status == 202, answer
    await hooks.work()
    return answer.json(), await hooks.only_delivery(made)


async def test_an_extra_attempt_leaves_the_schedule_of_a_pending_delivery_as_it_was(hooks, receiver):
    made, delivery = await failed_once(hooks, receiver)
    receiver.answers["/hook"] = [(500, {}, b"")]
    told, shown = await retry(hooks, made)
    assert told == {"id": delivery["id"], "status": "pending", "attempt": 1}
    assert receiver.last.retry_count == "1"
    assert (shown["status"], shown["attempt"], shown["next_attempt_at"]) == (
        "pending",
        2,
        delivery["next_attempt_at"],
    )
    _, shown = await retry(hooks, made)
    assert (shown["status"], shown["attempt"]) == ("delivered", 3)
    hooks.clock.advance(400_000)
    await hooks.work()
    assert len(receiver.received) == 3, "the attempt that was scheduled has nothing left to do"


async def test_one_more_attempt_decides_the_state_of_a_delivery_that_had_ended(hooks, receiver):
    made, _ = await failed_once(hooks, receiver)
    assert (await retry(hooks, made))[1]["status"] == "delivered"
    receiver.default = 503
    told, shown = await retry(hooks, made)
    assert (told["status"], shown["status"], shown["attempt"]) == ("pending", "failed", 3)
    assert await totals(hooks, made) == {None: 1, "pending": 0, "delivered": 0, "failed": 1}
    receiver.default = 200
    _, shown = await retry(hooks, made)
    assert shown["status"] == "delivered"


async def test_an_inactive_webhook_neither_retries_nor_replays(hooks, receiver):
    made, delivery = await failed_once(hooks, receiver)
    await hooks.call(made, "PUT", "", json={"active": False})
    for rest, body in ((f"/executions/{delivery['id']}/retry", None), ("/replay", {})):
        refused = await hooks.call(made, "POST", rest, json=body)
        assert (refused.status, refused.code) == (409, "webhook_inactive")


async def fail_all(hooks, receiver, types):
    """A failed delivery of each type, a minute apart."""
    receiver.default = 500
    for type in types:
        await hooks.happen(type)
        await hooks.work()
        hooks.clock.advance(60)
    for delay in ATTEMPT_DELAYS_SECONDS[1:]:
        hooks.clock.advance(1.1 * delay + 1)
        await hooks.work()
    receiver.received.clear()
    receiver.default = 200


async def test_failed_deliveries_are_replayed_by_time_and_type(hooks, receiver):
    made = await hooks.make(events=["a.*", "b.*"])
    start = hooks.clock.time()
    await fail_all(hooks, receiver, ["a.one", "b.two", "a.three", "a.one"])
    assert await totals(hooks, made) == {None: 4, "pending": 0, "delivered": 0, "failed": 4}
    wanted = {
        "from": instant_from_timestamp(start),
        "to": instant_from_timestamp(start + 150),
        "event_types": ["a.one", "a.three"],
        "status": "failed",
    }
    answer = await hooks.call(made, "POST", "/replay", json=wanted)
    assert answer.status == 202
    assert answer.json()["queued"] == 2
    assert answer.json()["job_id"].startswith("job_")
    await hooks.work()
    assert [one.json["type"] for one in receiver.received] == ["a.one", "a.three"]
    assert {one.retry_count for one in receiver.received} == {"7"}
    found = await totals(hooks, made)
    assert (found["delivered"], found["pending"]) == (2, 0)
    again = await hooks.call(made, "POST", "/replay", json=wanted)
    assert again.json()["queued"] == 0
    for wrong in ({"from": "yesterday"}, {"to": "x"}, {"status": "delivered"}, {"event_types": "a"}):
        refused = await hooks.call(made, "POST", "/replay", json=wrong)
        assert (refused.status, list(refused.details)) == (422, list(wrong))


async def test_a_test_event_is_sent_at_once_once_only_and_recorded(hooks, receiver):
    made = await hooks.make(events=["never.happens"], active=False)
    receiver.answers["/hook"] = [(204, {}, b""), (500, {}, b"broken")]
    answer = await hooks.call(made, "POST", "/test", json={})
    assert answer.status == 200
    told = answer.json()
    assert set(told) == {
        "success", "delivery_id", "event_id", "event_type", "response_code", "response_time_ms", "message",
    }  # fmt: skip
    assert (told["success"], told["event_type"], told["response_code"]) == (True, "system.test", 204)
    assert (receiver.last.json["id"], receiver.last.json["test"]) == (told["event_id"], True)
    failed = (await hooks.call(made, "POST", "/test", json={"event_type": "agent.created"})).json()
    assert (failed["success"], failed["message"]) == (False, "The receiver answered with status 500.")
    assert receiver.last.json["data"]["agent_id"]
    hooks.clock.advance(400_000)
    await hooks.work()
    assert len(receiver.received) == 2, "a test is not tried again"
    listed = await hooks.deliveries(made)
    assert [(one["id"], one["status"], one["test"]) for one in listed] == [
        (failed["delivery_id"], "failed", True),
        (told["delivery_id"], "delivered", True),
    ]


async def test_a_test_event_of_a_bad_type_is_refused_and_an_unreachable_receiver_is_reported(hooks):
    made = await hooks.make(events=["never.happens"], active=False)
    refused = await hooks.call(made, "POST", "/test", json={"event_type": "form.*"})
    assert (refused.status, list(refused.details)) == (422, ["event_type"])
    await hooks.call(made, "PUT", "", json={"url": "http://127.0.0.1:1/"})
    unreachable = (await hooks.call(made, "POST", "/test")).json()
    assert (unreachable["success"], unreachable["response_code"]) == (False, None)
    assert unreachable["message"] == "The destination could not be reached."


async def test_statistics_add_up(hooks, receiver):
    receiver.answers["/hook"] = [(200, {}, b""), (500, {}, b""), (200, {}, b"")]
    made = await hooks.make()
    for _ in range(3):
        await hooks.happen()
    await hooks.work()
    expected = {"total": 3, "delivered": 2, "failed": 0, "pending": 1, "success_rate": 100.0}
    for period in ("24h", "7d", "30d", "90d"):
        stats = (await hooks.call(made, "GET", "/stats", query={"period": period})).json()
        assert {name: stats[name] for name in expected} == expected
        assert (stats["webhook_id"], stats["period"]) == (made["id"], period)
    assert set(stats) == {*expected, "webhook_id", "period", "avg_response_time_ms", "p95_response_time_ms"}
    hooks.clock.advance(25 * 3600)
    await hooks.work()
    later = (await hooks.call(made, "GET", "/stats", query={"period": "24h"})).json()
    assert (later["delivered"], later["total"]) == (1, 1)
    assert (await hooks.call(made, "GET", "/stats", query={"period": "1y"})).status == 422


async def test_deleting_cancels_what_is_on_its_way(hooks, receiver, people, admin):
    receiver.default = 500
    made, kept = await hooks.make(), await hooks.make("/kept")
    await hooks.happen()
    await hooks.work()
    await hooks.happen()
    assert (await hooks.call(made, "DELETE", "")).status == 204
    await hooks.work()
    hooks.clock.advance(100)
    await hooks.work()
    assert len(receiver.at("/hook")) == 1
    async with people.context(admin.user.tenant_id) as ctx:
        (row,) = await ctx.db.all(WebhookDelivery, webhook_id=made["id"])
        assert (row.status, row.error, row.next_attempt_at) == ("failed", "webhook_deleted", None)
        assert await ctx.db.count(Job, lane=made["id"]) == 0
    assert {one["status"] for one in await hooks.deliveries(kept)} == {"pending"}
    assert (await admin.get(f"{PATH}/{made['id']}/executions")).code == "webhook_not_found"


async def test_what_waits_for_an_inactive_webhook_fails_and_may_be_replayed(hooks, receiver):
    receiver.default = 500
    made = await hooks.make()
    await hooks.happen()
    await hooks.work()
    await hooks.call(made, "PUT", "", json={"active": False})
    hooks.clock.advance(100)
    await hooks.work()
    shown = await hooks.only_delivery(made)
    assert (shown["status"], shown["error"], shown["attempt"]) == ("failed", "webhook_inactive", 1)
    await hooks.call(made, "PUT", "", json={"active": True})
    receiver.default = 200
    assert (await hooks.call(made, "POST", "/replay", json={})).json()["queued"] == 1
    await hooks.work()
    assert (await hooks.only_delivery(made))["status"] == "delivered"
