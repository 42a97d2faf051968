"""A delivery that comes again is answered as the first one was, and nothing happens again."""

import asyncio

from tests.factories.happenings import events
from tests.factories.incoming import PATH, address, list_received, make_hook
from tests.incoming import signing
from tests.incoming.conftest import WORKFLOW


async def send(api, hook, body=b'{"n":1}', **headers):
    answer = await api.request("POST", address(hook), content=body, headers=headers)
    assert answer.status == 200, answer
    return answer.json()


async def test_fifty_deliveries_at_once_are_one(service, admin, api, people, starts) -> None:
    hook = await make_hook(admin, workflow_id=WORKFLOW, dedupe_header="X-Delivery")
    answers = await asyncio.gather(*(send(api, hook, **{"X-Delivery": "d1"}) for _ in range(50)))
    assert len({answer["id"] for answer in answers}) == 1
    assert len({answer["event_id"] for answer in answers}) == 1
    assert sorted(answer["duplicate"] for answer in answers) == [False] + [True] * 49
    await service.runner.drain()
    assert len(starts.asked) == 1
    assert len(await events(people, "system.webhook.received")) == 1
    log = await list_received(admin, hook)
    assert [entry["status"] for entry in log].count("duplicate") == 49
    (first,) = await list_received(admin, hook, status="triggered")
    assert {entry["duplicate_of"] for entry in log} == {None, first["id"]}
    again = await send(api, hook, **{"X-Delivery": "d1"})
    assert again["workflow_execution_id"] == first["workflow_execution_id"] is not None
    assert (await admin.get(f"{PATH}/{hook['id']}")).json()["event_count"] == 1


async def test_each_scheme_has_its_own_name_for_a_delivery(admin, api, clock) -> None:
    now, secret = int(clock.time()), signing.SECRET
    stripe = [signing.stripe(b'{"id":"evt_1","n":%d}' % n, now + n) for n in (1, 2)]
    slack = [signing.slack(b'{"event_id":"Ev1","n":%d}' % n, now + n) for n in (1, 2)]
    github = [signing.github(b'{"n":%d}' % n, 0) for n in (1, 2)]
    for sent in github:
        sent.headers["X-GitHub-Delivery"] = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
    standard = [signing.standard_webhooks(b"%d" % n, now) for n in (1, 2)]
    plain = [signing.Sent(b"%d" % n, {"Idempotency-Key": "k"}) for n in (1, 2)]
    for scheme, pair in (
        ("stripe", stripe),
        ("slack", slack),
        ("github", github),
        ("standard_webhooks", standard),
        ("none", plain),
    ):
        key = signing.STANDARD_SECRET if scheme == "standard_webhooks" else secret
        hook, other = [await make_hook(admin, verification={"type": scheme, "secret": key}) for _ in range(2)]
        first, second = [await send(api, hook, sent.body, **sent.headers) for sent in pair]
        assert (first["duplicate"], second["duplicate"]) == (False, True), scheme
        assert second["id"] == first["id"]
        # Another webhook has deliveries of its own.
        assert (await send(api, other, pair[0].body, **pair[0].headers))["duplicate"] is False
        (duplicate,) = await list_received(admin, hook, status="duplicate")
        assert (duplicate["payload"], duplicate["duplicate_of"]) == (None, first["id"])


async def test_without_a_name_or_with_another_nothing_is_a_duplicate(admin, api) -> None:
    hook = await make_hook(admin, dedupe_header="X-Delivery")
    headers = [
        {},
        {},
        {"X-Delivery": "a"},
        {"X-Delivery": "b"},
        {"X-Delivery": "x" * 5000},
        {"X-Delivery": ""},
    ]
    answers = [await send(api, hook, **sent) for sent in headers]
    assert [answer["duplicate"] for answer in answers] == [False] * 6
    assert len({answer["id"] for answer in answers}) == 6
    assert (await send(api, hook, **{"X-Delivery": "x" * 5000}))["duplicate"] is True
