"""Messages to addresses that callers gave: signed with the tenant's secret and tried seven times."""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import msgspec
import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.events import signing
from retinue.events.action_config import MASK
from retinue.events.models import SignedMessage, Subscription
from retinue.events.signed_messages import enqueue_signed_message
from retinue.kit.clock import ManualClock
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.webhook_signing import ATTEMPT_DELAYS_SECONDS
from tests.adapters.llm_server import ProviderServer, refusing
from tests.client import Api, Response
from tests.events.conftest import SUBSCRIPTIONS, emit, read, subscribe
from tests.events.signatures import is_signed, is_standard
from tests.factories.agents import make_agent
from tests.factories.happenings import audits, events
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.tools.servers.rest_api import RestApi, Seen

SECRET = "/api/v1/event-subscriptions/signing-secret"
ChatLater = Callable[..., Awaitable[Response]]
DONE: tuple[int, dict[str, str], bytes] = (200, {}, b"ok")


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    await add_key_for(admin, provider, models=["test-model"])
    return await make_agent(admin, primary_model="openai_compatible/test-model", status="published")


async def secret_of(api: Api) -> str:
    return str((await api.get(SECRET)).json()["secret"])


@pytest.fixture
async def chat_later(admin: Api, agent: dict[str, Any], receiver: RestApi) -> ChatLater:
    """Ask the agent in the background; the answer goes to the receiver."""
    receiver.answers = [DONE] * 2

    async def ask(url: object = f"{receiver.url}/scripted?key=1") -> Response:
        body = {"message": "Hello", "callback_url": url}
        return await admin.post(f"/api/v1/agents/{agent['id']}/chat/async", body)

    return ask


async def test_the_end_of_a_job_is_posted_to_its_callback_url(
    service: Service,
    admin: Api,
    people: People,
    chat_later: ChatLater,
    provider: ProviderServer,
    receiver: RestApi,
) -> None:
    provider.says("Done.")
    job = (await chat_later()).json()
    await service.runner.drain()
    (seen,) = receiver.seen
    assert (seen.method, seen.target) == ("POST", "/scripted?key=1")
    status = await admin.get(f"/api/v1/jobs/{job['job_id']}")
    assert msgspec.json.decode(seen.body) == status.json()
    assert status.json()["result"]["message"]["content"] == "Done."
    (completed,) = await events(people, "agent.chat.completed")
    assert completed.data["job_id"] == job["job_id"]
    expected = {
        "X-Service-Event": "agent.chat.completed",
        "X-Service-Event-Id": completed.id,
        "webhook-id": completed.id,
        "X-Correlation-ID": completed.correlation_id,
        "Content-Type": "application/json",
    }
    assert {name: seen.headers[name] for name in expected} == expected
    assert "X-Service-Retry-Count" not in seen.headers
    async with people.context() as ctx:
        assert await ctx.system("test").count(SignedMessage) == 0


async def test_a_callback_is_signed_with_the_secret_of_the_tenant(
    service: Service,
    admin: Api,
    chat_later: ChatLater,
    provider: ProviderServer,
    receiver: RestApi,
    clock: ManualClock,
) -> None:
    provider.says("Done.")
    await chat_later()
    await service.runner.drain()
    secret = await secret_of(admin)
    assert secret.startswith("whsec_")
    assert is_signed(receiver.last, secret, clock.time())
    assert is_standard(receiver.last, secret)
    assert not is_signed(receiver.last, secret + "x", clock.time())


async def test_a_job_that_fails_or_is_cancelled_is_posted_too(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    chat_later: ChatLater,
    provider: ProviderServer,
    receiver: RestApi,
) -> None:
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    await chat_later()
    await service.runner.drain()
    told = msgspec.json.decode(receiver.last.body)
    assert (told["status"], told["error"]["code"], told["result"]) == ("failed", "model_error", None)
    cancelled = (await chat_later()).json()
    await admin.post(f"/api/v1/agents/{agent['id']}/chat/jobs/{cancelled['job_id']}/cancel")
    await service.runner.drain()
    assert msgspec.json.decode(receiver.last.body)["status"] == "cancelled"
    assert len(receiver.seen) == 2
    async with people.context() as ctx:
        assert await ctx.system("test").count(SignedMessage) == 0


async def test_a_callback_url_that_may_not_be_called_is_refused(chat_later: ChatLater) -> None:
    for url in ("http://example.com/x", "ftp://example.com", "https://10.0.0.1/x", "nonsense", "", 7):
        refused = await chat_later(url)
        assert (refused.status, list(refused.details)) == (422, ["callback_url"]), url


async def test_a_message_is_tried_seven_times_with_the_same_bytes_and_a_new_signature(
    service: Service, admin: Api, people: People, receiver: RestApi, clock: ManualClock
) -> None:
    receiver.answers = [
        (500, {}, b""),
        (410, {}, b""),
        (302, {"Location": f"{receiver.url}/elsewhere"}, b""),
        (503, {"Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Retry-After": "Sat, 16 Jan 2027 08:00:00 GMT"}, b""),
        (429, {"Retry-After": "soon"}, b""),
        (404, {}, b""),
        (500, {}, b""),
        DONE,
    ]
    async with people.context(admin.user.tenant_id) as ctx:
        await enqueue_signed_message(
            ctx,
            url=f"{receiver.url}/scripted",
            headers={"X-Own": "yes", "x-correlation-id": "forged"},
            body=b'{"a": "\xc3\xa4"}',
            event_id="evt_1",
            event_type="order.placed",
        )
    await service.runner.drain()
    secret = await secret_of(admin)
    waits = [*ATTEMPT_DELAYS_SECONDS[1:4], 2 * ATTEMPT_DELAYS_SECONDS[4], *ATTEMPT_DELAYS_SECONDS[5:]]
    assert len(receiver.seen) == 1
    for number, wait in enumerate(waits, start=1):
        clock.advance(wait * 0.99)
        await service.runner.drain()
        assert len(receiver.seen) == number, "never earlier than the schedule says"
        clock.advance(wait * 0.12)
        await service.runner.drain()
        retries = receiver.last.headers["X-Service-Retry-Count"]
        assert (len(receiver.seen), retries) == (number + 1, str(number))
        assert is_signed(receiver.last, secret, clock.time())
    sent = [(seen.body, seen.headers["webhook-id"]) for seen in receiver.seen]
    assert sent == [(b'{"a": "\xc3\xa4"}', "evt_1")] * 7
    assert len({seen.headers["X-Service-Signature"] for seen in receiver.seen}) == 7
    own = [receiver.last.headers[name] for name in ("X-Own", "X-Correlation-ID")]
    assert own == ["yes", "cor_test"]
    clock.advance(10 * 86_400)
    await service.runner.drain()
    assert len(receiver.seen) == 7
    async with people.context() as ctx:
        assert await ctx.system("test").count(SignedMessage) == 0


async def subscribed_receiver(admin: Api, receiver: RestApi) -> tuple[dict[str, Any], str]:
    """Return a subscription that posts to the receiver with a secret header, and its path."""
    config = {"url": f"{receiver.url}/scripted", "headers": {"Authorization": "Bearer CANARY"}}
    made = await subscribe(admin, action_type="webhook", action_config=config)
    return made, f"{SUBSCRIPTIONS}/{made['id']}"


async def test_a_subscription_posts_a_matching_event_to_its_address(
    service: Service, admin: Api, receiver: RestApi, clock: ManualClock
) -> None:
    receiver.answers = [DONE]
    await subscribed_receiver(admin, receiver)
    told = await emit(admin, total=7)
    await service.runner.drain()
    seen = receiver.last
    assert seen.headers["Authorization"] == "Bearer CANARY"
    assert is_signed(seen, await secret_of(admin), clock.time())
    body = msgspec.json.decode(seen.body)
    assert (body["id"], body["type"], body["test"]) == (told["event"]["id"], "order.placed", True)
    assert body["data"] == told["event"]["data"]


async def test_the_headers_of_a_subscription_are_sent_and_neither_shown_nor_stored_in_plain_text(
    service: Service, admin: Api, people: People, receiver: RestApi
) -> None:
    receiver.answers = [DONE] * 2
    made, path = await subscribed_receiver(admin, receiver)
    assert made["action_config"]["headers"] == {"Authorization": MASK}
    await emit(admin)
    await service.runner.drain()
    changed = {**made["action_config"], "headers": {"Authorization": MASK, "X-More": "1"}}
    shown = (await admin.put(path, {"action_config": changed})).json()
    assert shown["action_config"]["headers"] == {"Authorization": MASK, "X-More": MASK}
    await emit(admin)
    await service.runner.drain()
    assert (receiver.last.headers["Authorization"], receiver.last.headers["X-More"]) == ("Bearer CANARY", "1")
    assert (await read(admin, made))["trigger_count"] == 2
    async with people.context() as ctx:
        (row,) = await ctx.system("test").all(Subscription)
        assert "CANARY" not in str(row.action_config)


async def test_the_masked_headers_of_a_subscription_go_to_no_other_address(
    admin: Api, people: People, receiver: RestApi
) -> None:
    made, path = await subscribed_receiver(admin, receiver)
    for wrong in (
        {"url": "http://example.com"},
        {"url": receiver.url, "headers": {"X-Service-Signature": "x"}},
        {"url": receiver.url, "headers": {"Host": "x"}},
        {"url": receiver.url, "headers": ["x"]},
        {"webhook_id": "wh_nobody"},
        {},
        # A value that nobody is shown does not go where somebody else could see it.
        {"url": "https://elsewhere.example/", "headers": {"Authorization": MASK}},
        {"url": receiver.url.replace("http:", "https:"), "headers": {"Authorization": MASK}},
        # A mask that stands for nothing would be sent as it is.
        {"url": f"{receiver.url}/scripted", "headers": {"X-Unknown": MASK}},
    ):
        assert (await admin.put(path, {"action_config": wrong})).status == 422, wrong
    copied = {"event_type": "order.placed", "action_type": "webhook", "action_config": made["action_config"]}
    refused = await admin.post(SUBSCRIPTIONS, copied)
    assert refused.status == 422, refused
    assert "action_config.headers" in str(refused.details)
    away = {"url": "https://elsewhere.example/", "headers": {"Authorization": "another"}}
    assert (await admin.put(path, {"action_config": away})).status == 200
    async with people.context() as ctx:
        (row,) = await ctx.system("test").all(Subscription)
        assert "CANARY" not in str(row.action_config)


async def test_a_subscription_says_that_its_receiver_refuses_until_it_accepts(
    service: Service, admin: Api, receiver: RestApi, clock: ManualClock
) -> None:
    receiver.answers = [(500, {}, b""), (503, {}, b""), DONE, (404, {}, b"")]
    made = await subscribe(admin, action_type="webhook", action_config={"url": f"{receiver.url}/scripted"})

    async def told_after(seconds: float) -> tuple[int, int, str | None]:
        clock.advance(seconds)
        await service.runner.drain()
        now = await read(admin, made)
        return now["trigger_count"], now["failure_count"], now["last_error"]

    await emit(admin)
    assert await told_after(0) == (1, 1, "The receiver answered 500.")
    assert await told_after(ATTEMPT_DELAYS_SECONDS[1] * 1.2) == (1, 2, "The receiver answered 503.")
    assert await told_after(ATTEMPT_DELAYS_SECONDS[2] * 1.2) == (1, 0, None)
    await emit(admin)
    assert await told_after(0) == (2, 1, "The receiver answered 404.")
    elsewhere = {"action_config": {"url": f"{receiver.url}/elsewhere"}}
    changed = (await admin.put(f"{SUBSCRIPTIONS}/{made['id']}", elsewhere)).json()
    assert (changed["failure_count"], changed["last_error"]) == (0, None)


async def test_a_notification_reaches_whoever_subscribed(service: Service, admin: Api) -> None:
    config = {"title": "Order {{data.id}}", "message": "{{type}}"}
    made = await subscribe(admin, action_type="notification", action_config=config)
    await emit(admin, id="o1")
    await service.runner.drain()
    after = await read(admin, made)
    assert (after["trigger_count"], after["last_error"]) == (1, None)
    listed = (await admin.get("/api/v1/notifications")).json()
    assert [(one["title"], one["message"]) for one in listed["data"]] == [("Order o1", "order.placed")]


async def test_each_tenant_has_a_secret_that_is_shown_to_administrators_and_audited(
    admin: Api, people: People
) -> None:
    answer = await admin.get(SECRET)
    assert answer.headers["cache-control"] == "no-store"
    first = answer.json()["secret"]
    assert answer.json()["previous_secret_expires_at"] is None
    assert await secret_of(admin) == first
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert await secret_of(stranger) != first
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.get(SECRET)).status == 403
    revealed = await audits(people, "system.signing_secret.revealed")
    assert len(revealed) == 3
    assert all(first not in str(row.metadata) for row in revealed)


async def test_a_rotated_secret_signs_beside_the_previous_one_until_its_grace_is_over(
    service: Service, admin: Api, people: People, receiver: RestApi, clock: ManualClock
) -> None:
    first = await secret_of(admin)
    second = (await admin.post(f"{SECRET}/rotate", {"grace_seconds": 600})).json()["secret"]
    assert second != first
    assert await secret_of(admin) == second

    async def posted() -> Seen:
        receiver.answers = [DONE]
        async with people.context(admin.user.tenant_id) as ctx:
            url = f"{receiver.url}/scripted"
            await enqueue_signed_message(
                ctx, url=url, body=b"{}", event_id="evt_1", event_type="order.placed"
            )
        await service.runner.drain()
        return receiver.last

    both = await posted()
    assert is_signed(both, second, clock.time())
    assert is_signed(both, first, clock.time(), header="X-Service-Signature-Previous")
    assert [is_standard(both, secret) for secret in (first, second)] == [True, True]
    clock.advance(601)
    alone = await posted()
    assert is_signed(alone, second, clock.time())
    assert "X-Service-Signature-Previous" not in alone.headers
    assert not is_standard(alone, first)


async def test_a_grace_that_is_no_time_or_too_long_is_refused(admin: Api) -> None:
    for wrong in (-1, 7 * 86_400 + 1, "long"):
        assert (await admin.post(f"{SECRET}/rotate", {"grace_seconds": wrong})).status == 422


async def test_while_the_vault_is_sealed_a_message_waits_however_long_that_is(
    service: Service,
    admin: Api,
    people: People,
    receiver: RestApi,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with people.context(admin.user.tenant_id) as ctx:
        await enqueue_signed_message(
            ctx, url=f"{receiver.url}/scripted", body=b"{}", event_id="evt_1", event_type="order.placed"
        )
    with monkeypatch.context() as sealed:
        sealed.setattr(signing, "current_keys", _raise_sealed)
        for _ in range(10):
            clock.advance(86_400)
            await service.runner.drain()
    assert receiver.seen == []
    receiver.answers = [DONE]
    clock.advance(86_400)
    await service.runner.drain()
    assert "X-Service-Retry-Count" not in receiver.last.headers


async def _raise_sealed(_ctx: Context) -> NoReturn:
    raise VaultSealed
