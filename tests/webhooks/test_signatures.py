"""Tests of signatures: both schemes, over the raw body, also while a secret is rotated."""

import base64
import hashlib
import hmac
import re

import pytest

from retinue import __version__
from retinue.kit.webhook_signing import signature_headers
from tests.factories.happenings import only_event
from tests.webhooks.hooks import own_signature

pytestmark = pytest.mark.either_database

DATA = {"note": 'Zoë ☃ "quoted" <&> \\', "large": 2**53 + 1, "nested": {"b": [1, 2.5, None], "a": True}}


def standard(secret: str, id: str, timestamp: str, body: bytes) -> str:
    """Sign as Standard Webhooks says: the decoded key over `<id>.<timestamp>.<raw body>`."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(signed.digest()).decode()


def test_signatures_are_the_golden_ones() -> None:
    """Made with OpenSSL, so that the program does not prove itself."""
    secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
    own = "sha256=467a838e982c471bde0f076393edd3b8bbc426a60548b273b7a889f9a2a87d06"
    standard = "v1,yINweRHMQ5/NPbS0FOvjT2rPpDSGtQwbWkwpRjP8VWg="
    headers = signature_headers(
        secret, event_id="evt_1", timestamp=1_800_000_000, body='{"é":1}'.encode(), previous=secret
    )
    assert headers == {
        "X-Service-Timestamp": "1800000000",
        "X-Service-Signature": own,
        "X-Service-Signature-Previous": own,
        "webhook-id": "evt_1",
        "webhook-timestamp": "1800000000",
        "webhook-signature": f"{standard} {standard}",
    }


async def deliver(hooks, receiver):
    """Return a webhook with headers of its own, the id of its event, and the request that came."""
    made = await hooks.make(headers={"X-Team": "blue", "Authorization": "Bearer of-the-customer"})
    event_id = await hooks.happen(data=DATA)
    await hooks.work()
    (got,) = receiver.received
    return made, event_id, got


async def test_a_delivery_carries_the_event_and_says_what_it_is_in_its_headers(hooks, receiver):
    made, event_id, got = await deliver(hooks, receiver)
    assert got.json == {
        "id": event_id,
        "type": "order.placed",
        "created_at": got.json["created_at"],
        "timestamp": got.json["created_at"],
        "correlation_id": "cor_test",
        "tenant_id": hooks.admin.user.tenant_id,
        "test": False,
        "data": {**DATA, "tenant_id": hooks.admin.user.tenant_id, "actor": got.json["data"]["actor"]},
    }
    delivery = await hooks.only_delivery(made)
    expected = {
        "x-service-event": "order.placed",
        "x-service-event-id": event_id,
        "webhook-id": event_id,
        "x-service-delivery-id": delivery["id"],
        "content-type": "application/json",
        "user-agent": f"Retinue/{__version__}",
        "x-team": "blue",
        "authorization": "Bearer of-the-customer",
        "x-correlation-id": "cor_test",
        "x-service-hops": "1",
    }
    assert {name: got.headers[name] for name in expected} == expected
    assert "x-service-retry-count" not in got.headers
    assert delivery["request"]["body"] == got.json


async def test_a_delivery_carries_both_signatures_of_its_very_bytes(hooks, receiver):
    made, event_id, got = await deliver(hooks, receiver)
    headers = got.headers
    assert abs(int(headers["x-service-timestamp"]) - hooks.clock.time()) < 5
    assert headers["webhook-timestamp"] == headers["x-service-timestamp"]
    assert headers["x-service-signature"] == own_signature(
        made["secret"], headers["x-service-timestamp"], got.body
    )
    assert headers["webhook-signature"] == standard(
        made["secret"], event_id, headers["webhook-timestamp"], got.body
    )
    assert "x-service-signature-previous" not in headers
    delivery = await hooks.only_delivery(made)
    assert delivery["request"]["headers"]["X-Service-Signature"] == "***"


async def rotate(hooks, webhook, grace_seconds):
    return await hooks.call(webhook, "POST", "/rotate-secret", json={"grace_seconds": grace_seconds})


async def test_a_rotation_answers_with_a_new_secret_and_is_announced(hooks, people):
    made = await hooks.make()
    answer = await rotate(hooks, made, 100)
    rotated = answer.json()
    assert (answer.status, set(rotated)) == (200, {"id", "secret", "previous_secret_expires_at"})
    assert rotated["secret"] != made["secret"]
    assert re.fullmatch(r"whsec_.{44}", rotated["secret"])
    assert (await hooks.read(made))["secret_prefix"] == rotated["secret"][:10]
    told = await only_event(people, "system.webhook.rotated")
    assert told["previous_secret_expires_at"] == rotated["previous_secret_expires_at"]
    refused = await rotate(hooks, made, -1)
    assert (refused.status, list(refused.details)) == (422, ["grace_seconds"])


async def test_a_rotated_secret_signs_at_once_and_the_previous_one_beside_it_for_its_grace(hooks, receiver):
    made = await hooks.make()
    rotated = (await rotate(hooks, made, 100)).json()
    await hooks.happen()
    await hooks.work()
    got, headers = receiver.last, receiver.last.headers
    at = headers["x-service-timestamp"]
    assert headers["x-service-signature"] == own_signature(rotated["secret"], at, got.body)
    assert headers["x-service-signature-previous"] == own_signature(made["secret"], at, got.body)
    assert headers["webhook-signature"].split() == [
        standard(secret, got.json["id"], at, got.body) for secret in (rotated["secret"], made["secret"])
    ]
    hooks.clock.advance(101)
    await hooks.happen()
    await hooks.work()
    assert "x-service-signature-previous" not in receiver.last.headers
    assert len(receiver.last.headers["webhook-signature"].split()) == 1


async def test_a_rotation_without_grace_ends_the_previous_secret_at_once(hooks, receiver):
    made = await hooks.make()
    rotated = (await rotate(hooks, made, 0)).json()
    await hooks.happen()
    await hooks.work()
    got = receiver.last
    assert got.headers["x-service-signature"] == own_signature(
        rotated["secret"], got.headers["x-service-timestamp"], got.body
    )
    assert "x-service-signature-previous" not in got.headers
