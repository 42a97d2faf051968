"""Receivers of the audit log: every row, in order, whatever happens in between."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.audit.reading import AUDIT, rows_of
from tests.client import Api
from tests.events.signatures import is_standard
from tests.factories import credentials
from tests.factories.people import People
from tests.tools.servers.rest_api import RestApi, rest_api

STREAMS = f"{AUDIT}/streams"
Json = dict[str, Any]
TOKEN = {"Authorization": "Bearer CANARY-of-the-receiver"}
BROKEN: tuple[int, dict[str, str], bytes] = (500, {}, b"")


@pytest.fixture
async def receiver() -> AsyncIterator[RestApi]:
    async with rest_api() as server:
        yield server


@pytest.fixture(autouse=True)
async def _schedules(service: Service) -> None:
    """Starts the schedules: they begin when a worker first looks."""
    await service.runner.drain()


async def add_stream(api: Api, receiver: RestApi, **more: Any) -> Json:
    config = {"url": f"{receiver.url}/scripted", "headers": TOKEN}
    answer = await api.post(STREAMS, {"name": "SIEM", "type": "webhook", "config": config, **more})
    assert answer.status == 201, answer
    return answer.json()


async def read(api: Api, stream: Json) -> Json:
    answer = await api.get(f"{STREAMS}/{stream['id']}")
    assert answer.status == 200, answer
    return answer.json()


async def send_due(service: Service, clock: ManualClock, seconds: float = 6) -> None:
    """Let time pass and send the records that are due, as the schedule does every few seconds."""
    clock.advance(seconds)
    await service.runner.drain()


def sequences(receiver: RestApi) -> list[int]:
    return [row["sequence"] for seen in receiver.seen for row in json.loads(seen.body)]


async def test_rows_arrive_signed_and_in_order(
    owner: Api, receiver: RestApi, service: Service, clock: ManualClock
) -> None:
    stream = await add_stream(owner, receiver, start="beginning")
    await send_due(service, clock)
    rows = (await rows_of(owner))[::-1]
    assert sequences(receiver) == [row["sequence"] for row in rows]
    assert [row["hash"] for row in json.loads(receiver.last.body)] == [row["hash"] for row in rows]
    assert is_standard(receiver.last, stream["secret"])
    assert receiver.last.headers["Authorization"] == TOKEN["Authorization"]
    shown = await read(owner, stream)
    assert (shown["cursor"], shown["lag"], shown["last_error"]) == (rows[-1]["sequence"], 0, None)
    assert "secret" not in shown
    assert "CANARY" not in str(shown)
    await credentials.create(owner)
    await send_due(service, clock)
    assert sequences(receiver) == list(range(1, rows[-1]["sequence"] + 2))


async def test_a_stream_from_now_on_begins_with_its_own_row(
    owner: Api, receiver: RestApi, service: Service, clock: ManualClock
) -> None:
    before = (await rows_of(owner))[0]["sequence"]
    await add_stream(owner, receiver)
    await send_due(service, clock)
    assert sequences(receiver) == [before + 1]


async def test_a_receiver_that_was_down_gets_everything_in_order(
    owner: Api, receiver: RestApi, service: Service, clock: ManualClock
) -> None:
    receiver.answers = [BROKEN] * 3
    stream = await add_stream(owner, receiver, start="beginning")
    for _ in range(3):
        await credentials.create(owner)
        await send_due(service, clock, 60)
    shown = await read(owner, stream)
    assert (shown["cursor"], shown["last_error"]) == (0, "The receiver answered 500.")
    assert shown["lag"] == (await rows_of(owner))[0]["sequence"]
    receiver.seen.clear()
    await send_due(service, clock, 60)
    assert sequences(receiver) == list(range(1, shown["lag"] + 1))
    assert (await read(owner, stream))["lag"] == 0


@pytest.mark.either_database
async def test_a_receiver_that_missed_a_thousand_rows_gets_them_all_in_order(
    owner: Api, receiver: RestApi, service: Service, clock: ManualClock
) -> None:
    receiver.answers = [BROKEN] * 2
    stream = await add_stream(owner, receiver, start="beginning")
    made = (await credentials.create(owner))["id"]
    for number in range(1_000):
        changed = await owner.put(f"{credentials.PATH}/{made}", {"description": f"Note {number}"})
        assert changed.status == 200, changed
        if number in (300, 600):
            await send_due(service, clock, 60)
    newest = (await rows_of(owner))[0]["sequence"]
    assert newest > 1_000
    assert (await read(owner, stream))["lag"] == newest
    receiver.seen.clear()
    await send_due(service, clock, 600)
    assert sequences(receiver) == list(range(1, newest + 1))
    assert max(len(json.loads(one.body)) for one in receiver.seen) <= 500
    assert (await read(owner, stream))["lag"] == 0


async def test_a_receiver_that_fails_is_asked_less_and_less_often(
    owner: Api, receiver: RestApi, service: Service, clock: ManualClock
) -> None:
    receiver.answers = [BROKEN] * 1000
    await add_stream(owner, receiver, start="beginning")
    for _ in range(24):
        await send_due(service, clock, 10)
    assert 3 <= len(receiver.seen) <= 8


async def test_a_stream_that_was_switched_off_misses_nothing(
    owner: Api, receiver: RestApi, service: Service, clock: ManualClock
) -> None:
    stream = await add_stream(owner, receiver, start="beginning", enabled=False)
    await send_due(service, clock)
    assert receiver.seen == []
    changed = await owner.patch(f"{STREAMS}/{stream['id']}", {"enabled": True})
    assert changed.status == 200
    await send_due(service, clock)
    assert sequences(receiver) == list(range(1, (await rows_of(owner))[0]["sequence"] + 1))
    actions = [row["action"] for row in await rows_of(owner, action="audit.*")]
    assert actions == ["audit.stream_updated", "audit.stream_created"]


async def test_headers_belong_to_their_server(owner: Api, receiver: RestApi) -> None:
    stream = await add_stream(owner, receiver)
    place, shown = f"{STREAMS}/{stream['id']}", await read(owner, stream)
    same = {**shown["config"], "url": f"{receiver.url}/scripted/more"}
    assert (await owner.patch(place, {"config": same})).status == 200
    moved = {**shown["config"], "url": "http://localhost:1/rows"}
    refused = await owner.patch(place, {"config": moved})
    assert (refused.status, list(refused.details)) == (422, ["config.headers"])
    assert (await owner.patch(place, {"config": {"url": "http://localhost:1/rows"}})).status == 200
    assert (await read(owner, stream))["config"]["headers"] == {}


async def test_a_test_says_what_the_receiver_answers(owner: Api, receiver: RestApi) -> None:
    stream = await add_stream(owner, receiver)
    receiver.answers = [BROKEN]
    place = f"{STREAMS}/{stream['id']}/test"
    failed = (await owner.post(place)).json()
    assert failed == {"success": False, "message": "The receiver answered 500."}
    worked = (await owner.post(place)).json()
    assert worked["success"] is True
    assert json.loads(receiver.last.body) == []
    assert is_standard(receiver.last, stream["secret"])
    assert (await read(owner, stream))["cursor"] == (await rows_of(owner))[1]["sequence"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "syslog"}, "type"),
        ({"config": {}}, "config.url"),
        ({"config": {"url": "ftp://127.0.0.1/x"}}, "config.url"),
        ({"config": {"url": "http://169.254.169.254/x"}}, "config.url"),
        ({"config": {"url": "http://127.0.0.1/", "headers": {"A b": "c"}}}, "config.headers"),
        ({"config": {"url": "http://127.0.0.1/", "headers": {"Host": "inner"}}}, "config.headers"),
        (
            {"config": {"url": "http://127.0.0.1/", "headers": {"webhook-signature": "v1,x"}}},
            "config.headers",
        ),
        ({"start": "yesterday"}, "start"),
        ({"name": ""}, "name"),
    ],
)
async def test_bad_streams_are_refused(owner: Api, change: Json, field: str) -> None:
    body = {"name": "SIEM", "type": "webhook", "config": {"url": "http://127.0.0.1:9/"}, **change}
    answer = await owner.post(STREAMS, body)
    assert answer.status == 422
    assert [name for name in answer.details if name.startswith(field)], answer


async def test_only_administrators_and_only_their_own(owner: Api, receiver: RestApi, people: People) -> None:
    stream = await add_stream(owner, receiver)
    developer = await people.signed_in(Role.agent_developer, await people.default_tenant())
    stranger = await people.signed_in(Role.tenant_admin, await people.default_tenant())
    place = f"{STREAMS}/{stream['id']}"
    assert (await developer.get(STREAMS)).status == 403
    for call in (stranger.get(place), stranger.patch(place, {"enabled": False}), stranger.delete(place)):
        assert (await call).code == "audit_stream_not_found"
    assert (await owner.delete(place)).status == 204
    assert (await owner.get(STREAMS)).json()["data"] == []
