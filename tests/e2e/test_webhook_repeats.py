"""One kill at any place repeats a delivery at most once, and any worker may take over."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from retinue.webhooks.delivery.schedule import MAX_CONCURRENT_PER_WEBHOOK
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.nursery import Child, Nursery
from tests.e2e.processes import ServerProcess
from tests.e2e.webhook_kills import PATIENCE_S, PLACES, wait_until_quiet, wait_until_ready
from tests.webhooks.receiver import Receiver, receiving

ORDERS = 12
BURSTS = 6
# No webhook is further ahead of what is recorded.
MOST_UNRECORDED = 4 * MAX_CONCURRENT_PER_WEBHOOK
# Where what was sent is not recorded yet; the campaign takes the other places too.
QUICK = ("after_webhook_send", "before_finish")


async def _emit(port: int, token: str, acked: set[str]) -> None:
    body = {"event_type": "order.placed", "data": {}}
    try:
        status, answer = await asyncio.wait_for(
            call(port, "POST", "/api/v1/events/test", token=token, body=body), 10
        )
    except (*Unreachable, TimeoutError):
        return
    if status == 202:
        acked.add(answer["event"]["id"])


async def _prepare(server: ServerProcess, nursery: Nursery, receiver: Receiver) -> str:
    first = await nursery.start(server.env, "serve", "--port", str(server.port))
    await wait_until_ready(server)
    token = await sign_in(server.port)
    for path in ("/a", "/b"):
        hook = {"url": receiver.url + path, "events": ["order.*"]}
        status, made = await call(server.port, "POST", "/api/v1/webhooks", token=token, body=hook)
        assert status == 201, made
    assert await first.stop()
    return str(token)


async def _kill_once(server: ServerProcess, nursery: Nursery, token: str, place: str) -> set[str]:
    """Kill a server at this place under a burst of events; return the events it promised."""
    env = {**server.env, "RETINUE_FAILPOINTS": f"{place}:3:kill"}
    doomed: Child = await nursery.start(env, "serve", "--port", str(server.port))
    await wait_until_ready(server)
    acked: set[str] = set()
    for _ in range(BURSTS):
        if doomed.is_alive:
            await asyncio.gather(*(_emit(server.port, token, acked) for _ in range(ORDERS)))
    doomed.kill()
    assert await doomed.wait(PATIENCE_S)
    return acked


@pytest.mark.either_database
@pytest.mark.parametrize("has_neighbour", [False, True], ids=["alone", "beside_a_worker"])
@pytest.mark.parametrize(
    "place",
    [pytest.param(place, marks=() if place in QUICK else pytest.mark.slow) for place in PLACES],
)
async def test_one_kill_repeats_a_delivery_at_most_once(
    tmp_path: Path, database_url: str, place: str, has_neighbour: bool
) -> None:
    server = ServerProcess(tmp_path, database_url)
    async with receiving() as receiver, server, Nursery(tmp_path) as nursery:
        token = await _prepare(server, nursery, receiver)
        if has_neighbour:
            await nursery.start(server.worker_env, "worker")
        acked = await _kill_once(server, nursery, token, place)
        await server.start()
        await wait_until_quiet(server)
        assert await server.stop() == 0
    arrived = Counter((one.path, one.json["id"]) for one in receiver.received)
    assert {id for _, id in arrived} >= acked, "what was promised arrives"
    assert [one for one, count in arrived.items() if count > 2] == []
    repeated = Counter(path for (path, _), count in arrived.items() if count > 1)
    assert all(count <= MOST_UNRECORDED for count in repeated.values()), repeated
