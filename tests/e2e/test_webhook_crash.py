"""Kill -9 between claim, send and record: every event arrives, and whatever follows from it happens once."""

import asyncio
import itertools
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from retinue.incoming.models import ReceivedPayload, ReceivedStatus
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.models import Job
from retinue.webhooks.models import DeliveryStatus, WebhookAttempt, WebhookDelivery
from retinue.workflows.models import RunStatus, WorkflowExecution
from tests.e2e.chatting import open_database
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.nursery import Child, Nursery
from tests.e2e.processes import ServerProcess
from tests.e2e.webhook_kills import PATIENCE_S, PLACES, wait_until_quiet, wait_until_ready
from tests.factories.workflows import node
from tests.webhooks.hooks import own_signature
from tests.webhooks.receiver import Received, Receiver, receiving

KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "20"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
LONGEST_LIFE_S = 30.0
SURVIVORS_LIFE_S = 0.5
SCHEDULE = "0,1,1,1,1,1,1"
SLUG = "from-outside"
NAMED_BY = "X-Delivery"


class Senders:
    """Emit events and send to an incoming webhook until told to stop, across restarts.

    `acked` are the events that were promised, `taken` what senders call the payloads that were; a payload is
    sent again until it is taken, as senders do.
    """

    def __init__(self, port: int, token: str) -> None:
        self.acked: set[str] = set()
        self.taken: set[str] = set()
        self.refused: list[Any] = []
        self._port = port
        self._token = token
        self._is_over = False
        self._numbers = itertools.count()
        self._tasks = [asyncio.create_task(self._go_on(one)) for one in (self._emit, self._emit, self._send)]

    async def finish(self) -> None:
        self._is_over = True
        await asyncio.gather(*self._tasks)

    async def _go_on(self, act: Callable[[], Awaitable[None]]) -> None:
        while not self._is_over:
            await act()
            await asyncio.sleep(0.05)

    async def _ask(self, path: str, body: Any, **more: Any) -> tuple[int, Any]:
        try:
            status, answer = await asyncio.wait_for(call(self._port, "POST", path, body=body, **more), 10)
        except (*Unreachable, TimeoutError):
            return 0, None
        if status not in {200, 202, 503}:
            self.refused.append((status, answer))
        return status, answer

    async def _emit(self) -> None:
        body = {"event_type": "order.placed", "data": {"n": 1}}
        status, answer = await self._ask("/api/v1/events/test", body, token=self._token)
        if status == 202:
            self.acked.add(answer["event"]["id"])

    async def _send(self) -> None:
        name = f"delivery-{next(self._numbers)}"
        while True:
            status, _ = await self._ask(f"/webhooks/in/{SLUG}", {"name": name}, headers={NAMED_BY: name})
            if status == 200:
                self.taken.add(name)
                return
            await asyncio.sleep(0.05)


async def _make(port: int, token: str, path: str, **body: Any) -> dict[str, Any]:
    status, made = await call(port, "POST", path, token=token, body=body)
    assert status == 201, made
    return dict(made)


async def prepare(port: int, token: str, url: str) -> dict[str, dict[str, Any]]:
    """Two webhooks for orders, one for what comes in, and a workflow that starts with that."""
    flow = await _make(
        port, token, "/api/v1/workflows", name="Flow", status="published", nodes=[node("only")]
    )
    incoming = {"name": "Outside", "slug": SLUG, "dedupe_header": NAMED_BY, "workflow_id": flow["data"]["id"]}
    await _make(port, token, "/api/v1/incoming-webhooks", **incoming)
    chosen = {"/a": "order.*", "/b": "order.*", "/in": "system.webhook.received"}
    return {
        path: await _make(port, token, "/api/v1/webhooks", url=url + path, events=[pattern])
        for path, pattern in chosen.items()
    }


async def crash(nursery: Nursery, server: ServerProcess, kills: int) -> Counter[str]:
    """Kill a server and a worker at the next place in turn; return how often each place was hit.

    A process that outlives the other without reaching its place is killed where it is.
    """
    chance = random.Random(SEED)
    hit: Counter[str] = Counter()
    for number in range(kills // 2):
        place = PLACES[number % len(PLACES)]
        pair = []
        for arguments in (("serve", "--port", str(server.port)), ("worker",)):
            env = {**server.worker_env, "RETINUE_FAILPOINTS": f"{place}:{chance.randint(1, 4)}:kill"}
            pair.append(await nursery.start(env, *arguments))
        await asyncio.wait(
            [asyncio.create_task(one.wait(LONGEST_LIFE_S)) for one in pair],
            return_when=asyncio.FIRST_COMPLETED,
        )
        hit[place] += sum([await _is_dead_by_itself(one) for one in pair])
    return hit


async def _is_dead_by_itself(child: Child) -> bool:
    if await child.wait(SURVIVORS_LIFE_S):
        return True
    child.kill()
    await child.wait(PATIENCE_S)
    return False


def _count_arrivals(
    receiver: Receiver, secrets: dict[str, str]
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Return how often each webhook got each event, and the events with a wrong signature."""
    counts: Counter[tuple[str, str]] = Counter()
    forged = []
    for one in receiver.received:
        counts[one.path, one.json["id"]] += 1
        if not _is_signed(one, secrets[one.path]):
            forged.append(one.json["id"])
    return counts, forged


def _is_signed(one: Received, secret: str) -> bool:
    return one.headers["x-service-signature"] == own_signature(
        secret, one.headers["x-service-timestamp"], one.body
    )


async def problems(
    server: ServerProcess, receiver: Receiver, hooks: dict[str, Any], senders: Senders
) -> list[str]:
    """Return every broken promise in words; none if all were kept."""
    async with open_database(server) as ctx:
        system = ctx.system("the checker looks at everything")
        types = {entry.id: entry.type for entry in await system.all(EventEntry)}
        deliveries = await system.all(WebhookDelivery)
        attempts = Counter(attempt.delivery_id for attempt in await system.all(WebhookAttempt))
        received = await system.all(ReceivedPayload)
        runs = await system.all(WorkflowExecution)
        jobs = await system.all(Job)
    orders = {id for id, type in types.items() if type == "order.placed"}
    came_in = {id for id, type in types.items() if type == "system.webhook.received"}
    arrived, forged = _count_arrivals(receiver, {path: made["secret"] for path, made in hooks.items()})
    made = Counter((one.webhook_id, one.event_id) for one in deliveries)
    broken = [f"acknowledged but not there: {id}" for id in senders.acked - orders]
    broken += [f"wrong signature: {id}" for id in forged]
    for path, hook in hooks.items():
        for id in came_in if path == "/in" else orders:
            if not arrived[path, id]:
                broken.append(f"{id} never came to {path}")
            if made[hook["id"], id] != 1:
                broken.append(f"{id} has {made[hook['id'], id]} deliveries")
    for one in deliveries:
        if one.status is not DeliveryStatus.delivered or one.next_attempt_at is not None:
            broken.append(f"{one.id} is {one.status} after {one.attempt}: {one.error}")
        if attempts[one.id] != one.attempt:
            broken.append(f"{one.id} counts {one.attempt} and has {attempts[one.id]} attempts")
    broken += _lost_or_doubled(senders.taken, received, runs)
    # Whatever else the program asked for has its time; nothing may hold on to what was killed.
    stuck = [job for job in jobs if job.state != "ready" or job.queue == "webhooks"]
    return broken + [f"left behind: {job.kind} {job.state} {job.last_error}" for job in stuck]


def _lost_or_doubled(
    taken: set[str], received: list[ReceivedPayload], runs: list[WorkflowExecution]
) -> list[str]:
    """A payload is there once, however often it was sent, and has started its workflow once."""
    firsts = [one for one in received if one.status is not ReceivedStatus.duplicate]
    names = Counter(one.headers[NAMED_BY.lower()] for one in firsts)
    started = Counter(run.id for run in runs)
    broken = [f"taken but there {names[name]} times: {name}" for name in taken if names[name] != 1]
    broken += [f"there twice: {name}" for name, count in names.items() if count > 1]
    for one in firsts:
        if one.status is not ReceivedStatus.triggered or started[one.workflow_execution_id or ""] != 1:
            broken.append(f"{one.id} is {one.status}: {one.error}")
    if len(runs) != len(firsts):
        broken.append(f"{len(runs)} runs for {len(firsts)} payloads")
    return broken + [f"{run.id} is {run.status}" for run in runs if run.status is not RunStatus.completed]


@pytest.mark.either_database
async def test_every_event_arrives_and_what_follows_happens_once_when_processes_are_killed(
    tmp_path: Path, database_url: str
) -> None:
    server = ServerProcess(tmp_path, database_url, RETINUE_WEBHOOK_RETRY_SCHEDULE=SCHEDULE)
    async with receiving() as receiver, server, Nursery(tmp_path) as nursery:
        first = await nursery.start(server.env, "serve", "--port", str(server.port))
        await wait_until_ready(server)
        token = await sign_in(server.port)
        hooks = await prepare(server.port, token, receiver.url)
        receiver.answers["/b"] = [(500, {}, b"")] * 10
        first.kill()
        senders = Senders(server.port, token)
        hit = await crash(nursery, server, KILLS)
        await server.start()
        await senders.finish()
        await wait_until_quiet(server)
        assert await server.stop() == 0
        assert await problems(server, receiver, hooks, senders) == []
    assert senders.refused == [], nursery.log[-4000:] + server.log[-4000:]
    assert senders.acked
    assert senders.taken
    assert all(hit[place] for place in PLACES[: KILLS // 2]), hit
