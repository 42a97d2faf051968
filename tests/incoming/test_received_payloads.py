"""Tests of a webhook's public address: accepted and refused payloads, and their records."""

import asyncio
import time
from typing import Any

import msgspec
import pytest

from retinue.incoming import intake
from retinue.kit.context import Context
from tests.contract.envelopes import assert_well_formed
from tests.factories.happenings import events
from tests.factories.incoming import PATH, address, list_received, make_hook
from tests.services import start_all

MIB = 1024 * 1024
TAKEN = [
    (b"", None),
    (b"null", None),
    (b"7", 7),
    (b'"text"', "text"),
    (b"[1, [2]]", [1, [2]]),
    (b'{"a": 1, "a": 2}', {"a": 2}),
    (b'{"big": 123456789012345678901234567890}', {"big": 123456789012345678901234567890}),
    (b'{"f": 1.5e300, "z": 0.1}', {"f": 1.5e300, "z": 0.1}),
    (b"[" * 64 + b"]" * 64, None),
    ('{"é": "\\ud83d\\ude00 \\u00e9"}'.encode(), {"é": "😀 é"}),
    (b" \n {} \t", {}),
]
REFUSED = [
    (b"{", 400, "invalid_json"),
    (b"a=b&c=d", 400, "invalid_json"),
    (b"a;" * 100_000, 400, "invalid_json"),
    (b"   ", 400, "invalid_json"),
    (b"\xef\xbb\xbf{}", 400, "invalid_json"),
    (b'"\xff\xfe"', 400, "invalid_json"),
    (b'{"\xc3": 1}', 400, "invalid_json"),
    (b'"\\ud800"', 400, "invalid_json"),
    (b'"\\ud800\\u0041"', 400, "invalid_json"),
    (b"NaN", 400, "invalid_json"),
    (b"[Infinity]", 400, "invalid_json"),
    (b"-Infinity", 400, "invalid_json"),
    (b"1e999", 400, "invalid_json"),
    (b"9" * 10_000, 400, "invalid_json"),
    (b"{} {}", 400, "invalid_json"),
    (b"[1,]", 400, "invalid_json"),
    (b"// note\n{}", 400, "invalid_json"),
    (b"[" * 65 + b"]" * 65, 400, "invalid_json"),
    (b"[" * 100_000, 400, "invalid_json"),
    (b"{" + b",".join(b'"%d":0' % n for n in range(10_001)) + b"}", 400, "invalid_json"),
    (b'"\\u0000"', 422, "validation_error"),
    (b'"' + b"x" * MIB + b'"', 413, "payload_too_large"),
]


async def test_any_json_is_taken_and_nothing_else(admin, api) -> None:
    hook = await make_hook(admin)
    for content, meant in TAKEN:
        answer = await api.request("POST", address(hook), content=content)
        assert answer.status == 200, (content[:40], answer)
        assert_well_formed(answer)
        shown = (await admin.get(f"{PATH}/{hook['id']}/events/{answer.json()['id']}")).json()
        if meant is not None:
            assert shown["payload"] == meant, content[:40]
    for content, status, code in REFUSED:
        answer = await api.request("POST", address(hook), content=content)
        assert (answer.status, answer.code) == (status, code), (content[:40], answer)
        assert_well_formed(answer)
    for length in ("999999999999999999999", str(MIB + 1)):
        answer = await api.request("POST", address(hook), content=b"{}", headers={"Content-Length": length})
        assert (answer.status, answer.code) == (413, "payload_too_large")
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "é"):
        answer = await api.request("POST", address(hook), content=b"{}", headers={"Content-Type": media})
        assert answer.status == 200, media
    found = (await admin.get(f"{PATH}/{hook['id']}")).json()
    assert found["event_count"] == len(TAKEN) + 4
    assert found["last_received_at"] > found["created_at"]


async def send_order(admin, api) -> tuple[dict[str, Any], dict[str, Any]]:
    """Send a payload with secrets in its headers and its query; return the webhook and the receipt."""
    hook = await make_hook(admin, slug="shop-orders")
    headers = {
        "Content-Type": "application/json",
        "X-Shop": "17",
        "Authorization": "Bearer not-yours",
        "Cookie": "session=1",
        "Proxy-Authorization": "x",
        "X-Api-Key": "k",
        "X-Hub-Signature": "sha1=1",
        "X-Correlation-ID": "order.17",
        "X-Long": "é" * 5000,
        **{f"X-{number:03}": "v" for number in range(100)},
    }
    answer = await api.post(
        "/webhooks/in/shop-orders?source=web&author=ada&token=CANARY", {"order": 17}, headers=headers
    )
    return hook, answer.json()


async def test_the_sender_gets_a_receipt(admin, api) -> None:
    hook, receipt = await send_order(admin, api)
    assert hook["url"] == "http://127.0.0.1:8080/webhooks/in/shop-orders"
    assert receipt == {
        "received": True,
        "id": receipt["id"],
        "event_id": receipt["event_id"],
        "duplicate": False,
        "workflow_execution_id": None,
    }
    assert receipt["id"].startswith("iwe_")


async def test_what_arrived_is_in_the_log_without_secrets(admin, api) -> None:
    hook, receipt = await send_order(admin, api)
    page = (await admin.get(f"{PATH}/{hook['id']}/events")).json()
    assert set(page) == {"data", "pagination", "total", "page", "per_page"}
    assert (page["total"], page["page"], page["per_page"]) == (1, 1, 20)
    (entry,) = page["data"]
    kept = entry.pop("headers")
    assert kept["x-shop"] == "17"
    assert len(kept) == 64
    assert len(kept["x-long"]) == 512
    assert not {"authorization", "cookie", "proxy-authorization", "x-api-key", "x-hub-signature"} & set(kept)
    assert entry == {
        "id": receipt["id"],
        "incoming_webhook_id": hook["id"],
        "payload": {"order": 17},
        "payload_bytes": 12,
        "is_payload_omitted": False,
        "query": {"source": "web", "author": "ada", "token": "***"},
        "content_type": "application/json",
        "source_ip": api.ip,
        "status": "received",
        "duplicate_of": None,
        "replay_of": None,
        "workflow_id": None,
        "workflow_execution_id": None,
        "event_id": receipt["event_id"],
        "correlation_id": "order.17",
        "error": None,
        "created_at": entry["created_at"],
    }


async def test_what_arrived_is_in_an_event(admin, api, people) -> None:
    hook, receipt = await send_order(admin, api)
    (event,) = await events(people, "system.webhook.received")
    assert (event.id, event.correlation_id) == (receipt["event_id"], "order.17")
    assert event.actor == {"type": "incoming_webhook", "id": hook["id"]}
    assert event.data["payload"] == {"order": 17}
    assert (event.data["received_id"], event.data["slug"]) == (receipt["id"], "shop-orders")


async def test_a_large_payload_is_whole_where_it_is_asked_for_and_left_out_of_pages(
    admin, api, people
) -> None:
    hook = await make_hook(admin)
    large = {"text": "x" * (MIB - 100)}
    receipt = (await api.post(address(hook), large)).json()
    (entry,) = await list_received(admin, hook)
    assert (entry["payload"], entry["is_payload_omitted"]) == (None, True)
    (event,) = await events(people, "system.webhook.received")
    assert (event.data["payload"], event.data["is_payload_omitted"]) == (None, True)
    one = (await admin.get(f"{PATH}/{hook['id']}/events/{receipt['id']}")).json()
    assert (one["payload"], one["is_payload_omitted"]) == (large, False)
    replayed = await admin.post(f"{PATH}/{hook['id']}/events/{receipt['id']}/replay")
    copy = (await admin.get(f"{PATH}/{hook['id']}/events/{replayed.json()['id']}")).json()
    assert copy["payload"] == large


@pytest.mark.either_database
async def test_unknown_and_inactive_addresses_touch_nothing(admin, api, starts, service) -> None:
    hook = await make_hook(admin, active=False, workflow_id="wf_known")
    answer = await api.post(address(hook), {})
    assert (answer.status, answer.code) == (409, "webhook_inactive")
    for slug in ("nobody-has-this", "UPPER", "a", "-bad", "x" * 64, "a_b"):
        answer = await api.post(f"/webhooks/in/{slug}", {})
        assert (answer.status, answer.code) == (404, "webhook_not_found")
    assert (await api.get(address(hook))).status == 405
    assert (await admin.post(f"{PATH}/{hook['id']}/events/iwe_none/replay")).code == "event_not_found"
    await service.runner.drain()
    assert (await list_received(admin, hook), starts.asked) == ([], [])


@pytest.mark.either_database
async def test_a_sender_has_600_a_minute_and_others_have_theirs(admin, api, clock, monkeypatch) -> None:
    hook, other = await make_hook(admin), await make_hook(admin)
    first = await api.at("198.51.100.9").post(address(hook), {})
    assert (first.headers["x-ratelimit-limit"], first.headers["x-ratelimit-remaining"]) == ("600", "599")
    monkeypatch.setattr(intake, "MAX_REQUESTS_PER_MINUTE", 20)
    for number in range(20):
        assert (await api.request("POST", address(hook), content=b"{")).status == 400
        assert (await api.post(f"/webhooks/in/guess-{number}", {})).status == 404
    for path in (address(hook), "/webhooks/in/guess-again"):
        answer = await api.post(path, {})
        assert (answer.status, answer.code, answer.details["limit"]) == (429, "rate_limited", 20)
        assert int(answer.headers["retry-after"]) > 0
        assert_well_formed(answer)
    assert (await api.post(address(other), {})).status == 200
    assert (await api.at("198.51.100.9").post(address(hook), {})).status == 200
    clock.advance(61)
    assert (await api.post(address(hook), {})).status == 200


async def test_it_is_answered_well_within_50_ms_of_work(admin, api) -> None:
    hook = await make_hook(admin, workflow_id="wf_known")
    body = msgspec.json.encode([{"n": number, "text": "x" * 100} for number in range(500)])
    spent = []
    for _ in range(9):
        began = time.process_time()
        assert (await api.request("POST", address(hook), content=body)).status == 200
        spent.append(time.process_time() - began)
    assert sorted(spent)[4] < 0.025


async def test_a_body_that_stops_in_the_middle_leaves_nothing(service, admin, api) -> None:
    hook = await make_hook(admin)

    async def cut(scope, _receive, send):
        messages = [
            {"type": "http.request", "body": b'{"a":', "more_body": True},
            {"type": "http.disconnect"},
        ]

        async def receive():
            return messages.pop(0)

        await service(scope, receive, send)

    await type(api)(cut).post(address(hook), {})
    assert await list_received(admin, hook) == []


async def test_what_cannot_be_stored_is_not_acknowledged(service, admin, api, monkeypatch) -> None:
    hook = await make_hook(admin)
    await start_all(service)

    async def fail(self):
        raise OSError("no disk")

    with monkeypatch.context() as patch:
        patch.setattr(Context, "flush", fail)
        assert (await api.post(address(hook), {})).status == 500
    assert await list_received(admin, hook) == []
    answers = await asyncio.gather(*(api.post(address(hook), {"n": n}) for n in range(20)))
    assert {answer.status for answer in answers} == {200}
    assert len(await list_received(admin, hook)) == 20
    assert (await admin.get(f"{PATH}/{hook['id']}")).json()["event_count"] == 20
