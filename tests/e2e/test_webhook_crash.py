"""Kill -9 between claim, send and record: every event arrives, and every delivery ends in one state."""

import asyncio
import contextlib
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.models import Job
from retinue.webhooks.models import DeliveryStatus, WebhookAttempt, WebhookDelivery
from tests.e2e.chatting import opened
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess
from tests.webhooks.receiver import Received, Receiver, receiving
from tests.webhooks.test_signatures import own

PLACES = (
    "before_webhook_send",
    "after_webhook_send",
    "before_finish",
    "after_finish",
    "after_claim",
    "before_relay_commit",
    "after_relay_commit",
)
KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "3"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
PATIENCE_S = 30
SCHEDULE = "0,1,1,1,1,1,1"


class Emitters:
    """Emit one event after the other until told to stop, across restarts; `acked` are the promised ones."""

    def __init__(self, server: ServerProcess, token: str) -> None:
        self.acked: set[str] = set()
        self.refused: list[Any] = []
        self._server = server
        self._token = token
        self._is_over = False
        self._tasks = [asyncio.create_task(self._work()) for _ in range(3)]

    async def finish(self) -> None:
        self._is_over = True
        await asyncio.gather(*self._tasks)

    async def _work(self) -> None:
        body = {"event_type": "order.placed", "data": {"n": 1}}
        while not self._is_over:
            try:
                status, answer = await asyncio.wait_for(
                    call(self._server.port, "POST", "/api/v1/events/test", token=self._token, body=body), 10
                )
            except (*Unreachable, TimeoutError):
                await asyncio.sleep(0.02)
                continue
            if status == 202:
                self.acked.add(answer["event"]["id"])
            elif status != 503:
                self.refused.append((status, answer))
            await asyncio.sleep(0.03)


async def make_webhook(server: ServerProcess, token: str, url: str) -> dict[str, Any]:
    body = {"url": url, "events": ["order.*"]}
    status, made = await call(server.port, "POST", "/api/v1/webhooks", token=token, body=body)
    assert status == 201, made
    return dict(made)


async def crash(server: ServerProcess, kills: int) -> None:
    """Each start dies at the next place in turn, after a few times of passing it."""
    chance = random.Random(SEED)
    server.kill()
    for number in range(kills):
        place = PLACES[number % len(PLACES)]
        server.env["RETINUE_FAILPOINTS"] = f"{place}:{chance.randint(1, 6)}:kill"
        with contextlib.suppress(AssertionError):
            await server.start()
        assert server.process is not None
        await asyncio.wait_for(server.process.wait(), PATIENCE_S)
    del server.env["RETINUE_FAILPOINTS"]
    await server.start()


async def until_quiet(server: ServerProcess) -> None:
    """As long as it may take; what is left after that is stuck."""
    async with opened(server) as ctx:
        system = ctx.apart().system("the checker looks at everything")
        for _ in range(PATIENCE_S * 10):
            waiting = await system.count(WebhookDelivery, status=DeliveryStatus.pending)
            if not waiting and not await system.count(EventEntry, is_dispatched=False):
                return
            await asyncio.sleep(0.1)


def _arrived(receiver: Receiver, secrets: dict[str, str]) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How often each event came to each webhook; and those whose signature is wrong."""
    counts: Counter[tuple[str, str]] = Counter()
    forged = []
    for one in receiver.received:
        counts[one.path, one.json["id"]] += 1
        if not _is_signed(one, secrets[one.path]):
            forged.append(one.json["id"])
    return counts, forged


def _is_signed(one: Received, secret: str) -> bool:
    return one.headers["x-service-signature"] == own(secret, one.headers["x-service-timestamp"], one.body)


async def problems(
    server: ServerProcess, receiver: Receiver, hooks: dict[str, Any], acked: set[str]
) -> list[str]:
    """Every broken promise, in words; nothing when all were kept."""
    async with opened(server) as ctx:
        system = ctx.system("the checker looks at everything")
        events = {entry.id for entry in await system.all(EventEntry, type="order.placed")}
        deliveries = await system.all(WebhookDelivery)
        attempts = Counter(attempt.delivery_id for attempt in await system.all(WebhookAttempt))
        jobs = [job for job in await system.all(Job) if job.queue == "webhooks"]
    arrived, forged = _arrived(receiver, {path: made["secret"] for path, made in hooks.items()})
    made = Counter((one.webhook_id, one.event_id) for one in deliveries)
    broken = [f"acknowledged but not there: {id}" for id in acked - events]
    broken += [f"wrong signature: {id}" for id in forged]
    for path, hook in hooks.items():
        broken += [f"{id} never came to {path}" for id in events if not arrived[path, id]]
        broken += [
            f"{id} has {made[hook['id'], id]} deliveries" for id in events if made[hook["id"], id] != 1
        ]
    for one in deliveries:
        if one.status is not DeliveryStatus.delivered or one.next_attempt_at is not None:
            broken.append(f"{one.id} is {one.status} after {one.attempt}: {one.error}")
        if attempts[one.id] != one.attempt:
            broken.append(f"{one.id} counts {one.attempt} and has {attempts[one.id]} attempts")
    return broken + [f"left behind: {job.kind} {job.state} {job.last_error}" for job in jobs]


@pytest.mark.every_case
async def test_every_event_arrives_and_every_delivery_ends_once_when_the_server_is_killed(
    tmp_path: Path, database_url: str
) -> None:
    env = {"RETINUE_WEBHOOK_RETRY_SCHEDULE": SCHEDULE}
    async with receiving() as receiver, ServerProcess(tmp_path, database_url, **env) as server:
        await server.start()
        token = await sign_in(server.port)
        hooks = {path: await make_webhook(server, token, receiver.url + path) for path in ("/a", "/b")}
        receiver.answers["/b"] = [(500, {}, b"")] * 10
        emitters = Emitters(server, token)
        await crash(server, KILLS)
        await emitters.finish()
        await until_quiet(server)
        assert await server.stop() == 0
        assert await problems(server, receiver, hooks, emitters.acked) == []
    assert emitters.refused == []
    assert len(emitters.acked) > KILLS, "there was load"
