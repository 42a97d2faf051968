"""What a webhook's delivery costs, how soon it comes, and who has to wait for whom.

The worker runs in this process, the receiver in another. `python -m bench --only deliveries`.
"""

import asyncio
import json
import statistics
import tempfile
import time
import urllib.request
from typing import Any

import sqlalchemy as sa

from bench import receiving
from bench.figures import Figure, settings_of_run
from bench.filling import fill
from bench.servers import Server
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.runner import Runner
from retinue.kit.principal import SYSTEM
from retinue.kit.webhook_signing import new_signing_secret
from retinue.tenants.models import Plan, Tenant
from retinue.webhooks.manifest import manifest as webhooks
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery
from retinue.webhooks.queries import page_of_deliveries
from retinue.webhooks.schemas import DeliveryList
from retinue.webhooks.signing_secrets import WebhookSecrets
from retinue.wiring import close_instance, open_instance

DELIVERIES = 5000
RECEIVERS = 64
EACH_SECOND = 100
SECONDS = 5
BACKLOG = 10_000
FEW, MANY = 1_000, 1_000_000
_PATIENCE_S = 300


class Tenantry:
    """One tenant with its webhooks; `emit` commits events of one type and tells when."""

    def __init__(self, instance: Instance, tenant_id: str) -> None:
        self._instance = instance
        self._tenant_id = tenant_id

    def context(self) -> Context:
        ctx = Context(self._instance, SYSTEM, Caller(correlation_id="cor_bench"))
        ctx.bind_tenant(self._tenant_id)
        return ctx

    async def webhook(self, url: str, event: str) -> Webhook:
        secrets = WebhookSecrets(new_signing_secret())
        async with self.context() as ctx:
            return await ctx.db.insert(
                Webhook(
                    url=url,
                    events=[event],
                    filters={},
                    headers={},
                    secrets=secrets.sealed(),
                    secret_prefix=secrets.prefix,
                    created_by="",
                )
            )

    async def emit(self, *types: str) -> dict[str, float]:
        async with self.context() as ctx:
            ids = [ctx.emit_custom(type, {"order_id": "ord_1", "amount": 12.5}) for type in types]
        return dict.fromkeys(ids, time.time())


async def tenant_of(instance: Instance, name: str) -> Tenantry:
    async with Context(instance, SYSTEM, Caller(correlation_id="cor_bench")) as ctx:
        made = await ctx.system("bench").insert(Tenant(name=name, plan=Plan.enterprise, is_listened_to=True))
    return Tenantry(instance, made.id)


class Receiver:
    def __init__(self, server: Server) -> None:
        self.url = f"http://127.0.0.1:{server.port}"

    async def arrivals(self) -> dict[str, float]:
        def ask() -> dict[str, float]:
            with urllib.request.urlopen(f"{self.url}/arrivals") as answer:
                return dict(json.load(answer))

        return await asyncio.to_thread(ask)

    async def waits_ms(self, emitted: dict[str, float]) -> list[float]:
        """From commit to arrival, once all have arrived."""
        async with asyncio.timeout(_PATIENCE_S):
            while emitted.keys() - (arrived := await self.arrivals()).keys():
                await asyncio.sleep(0.1)
        return [(arrived[id] - at) * 1000 for id, at in emitted.items()]


async def measure(url: str) -> list[Figure]:
    received = await receiving.measure(url)
    sink = Server("bench.sink")
    receiver = Receiver(sink)
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_of_run(folder, url)
            instance = await open_instance(settings, manifests=(webhooks,))
            try:
                return [
                    *await _throughput(instance, receiver),
                    await _latency(instance, receiver),
                    await _with_hanging(instance, receiver),
                    await _behind_a_backlog(instance, receiver),
                    await _list_cost(instance),
                    *received,
                ]
            finally:
                await close_instance(instance)
    finally:
        sink.stop()


async def _throughput(instance: Instance, receiver: Receiver) -> list[Figure]:
    tenantry = await tenant_of(instance, "Throughput")
    types = [f"bench.n{number}" for number in range(RECEIVERS)]
    for type in types:
        await tenantry.webhook(f"{receiver.url}/{type}", type)
    emitted: dict[str, float] = {}
    for start in range(0, DELIVERIES, 500):
        emitted |= await tenantry.emit(*(types[number % RECEIVERS] for number in range(start, start + 500)))
    runner = Runner(instance)
    cpu, begun = time.process_time(), time.time()
    await runner.start()
    async with asyncio.timeout(_PATIENCE_S):
        while await _pending(tenantry):
            await asyncio.sleep(0.05)
    cpu_s, wall_s = time.process_time() - cpu, time.time() - begun
    await runner.stop()
    return [
        Figure("a delivery from its event to its record, CPU", cpu_s / DELIVERIES * 1000, "ms", 1),
        Figure(
            f"the same with one worker ({DELIVERIES / wall_s:.0f}/s)", wall_s / DELIVERIES * 1000, "ms", 1
        ),
    ]


_DELIVERED: Statement[Any] = Statement(sa.select(sa.func.sum(Webhook.__table__.c.delivered_count)))


async def _pending(tenantry: Tenantry) -> int:
    """How many are not delivered yet, or not even routed; asked so that the asking costs nothing."""
    async with tenantry.context() as ctx:
        return DELIVERIES - int(await ctx.detached().db.scalar(_DELIVERED))


async def _emit_steadily(tenantry: Tenantry) -> dict[str, float]:
    emitted: dict[str, float] = {}
    begun = time.monotonic()
    for number in range(EACH_SECOND * SECONDS):
        await asyncio.sleep(max(0.0, begun + number / EACH_SECOND - time.monotonic()))
        emitted |= await tenantry.emit(f"bench.steady{number % 10}")
    return emitted


async def _latency(instance: Instance, receiver: Receiver) -> Figure:
    tenantry = await tenant_of(instance, "Latency")
    for number in range(10):
        await tenantry.webhook(f"{receiver.url}/steady/{number}", f"bench.steady{number}")
    runner = Runner(instance)
    await runner.start()
    waits = await receiver.waits_ms(await _emit_steadily(tenantry))
    await runner.stop()
    return Figure(f"commit to first attempt at {EACH_SECOND}/s, p99", _p99(waits), "ms", 1000)


async def _with_hanging(instance: Instance, receiver: Receiver) -> Figure:
    """Each fifth receiver hangs, and every event goes to one of each kind; how long the healthy ones wait."""
    tenantry = await tenant_of(instance, "Hanging")
    for number in range(4):
        await tenantry.webhook(f"{receiver.url}/hang/{number}", "bench.sick")
    for number in range(16):
        await tenantry.webhook(f"{receiver.url}/well/{number}", f"bench.well{number}")
    runner = Runner(instance)
    await runner.start()
    emitted: dict[str, float] = {}
    for number in range(EACH_SECOND * SECONDS // 2):
        await tenantry.emit("bench.sick")
        emitted |= await tenantry.emit(f"bench.well{number % 16}")
        await asyncio.sleep(1 / EACH_SECOND)
    waits = await receiver.waits_ms(emitted)
    await runner.stop(grace_s=0)
    return Figure("commit to first attempt with 20 % hanging, healthy p99", _p99(waits), "ms", 2000)


async def _behind_a_backlog(instance: Instance, receiver: Receiver) -> Figure:
    busy, other = await tenant_of(instance, "Busy"), await tenant_of(instance, "Other")
    for number in range(RECEIVERS):
        await busy.webhook(f"{receiver.url}/hang/{number}", f"bench.busy{number}")
    await other.webhook(f"{receiver.url}/other", "bench.other")
    runner = Runner(instance)
    await runner.start()
    for start in range(0, BACKLOG, 500):
        await busy.emit(*(f"bench.busy{number % RECEIVERS}" for number in range(start, start + 500)))
    emitted: dict[str, float] = {}
    for _ in range(20):
        emitted |= await other.emit("bench.other")
        await asyncio.sleep(0.05)
    waits = await receiver.waits_ms(emitted)
    await runner.stop(grace_s=0)
    return Figure(f"commit to first attempt behind another's {BACKLOG}, max", max(waits), "ms", 2000)


async def _list_cost(instance: Instance) -> Figure:
    """The first page of failed deliveries with a thousand and with a million rows."""
    tenantry = await tenant_of(instance, "Listing")
    times = []
    for rows in (FEW, MANY):
        webhook = await tenantry.webhook("https://example.com/", "bench.list")
        await _fill(tenantry, webhook, rows)
        times.append(await _page_ms(tenantry, webhook))
    return Figure("list of deliveries with 1,000,000 rows, time", times[1] / times[0], "x with 1,000", 2)


async def _fill(tenantry: Tenantry, webhook: Webhook, rows: int) -> None:
    def varying(_number: Any, text: Any) -> dict[str, Any]:
        at = sa.literal("2026-11-15T08:30:00.") + text
        return {
            "id": sa.literal(webhook.id) + text,
            "event_id": sa.literal("evt_") + text,
            "created_at": at,
            "updated_at": at,
        }

    fixed = {
        "tenant_id": webhook.tenant_id, "webhook_id": webhook.id, "event_type": "bench.list",
        "status": "failed", "attempt": 7, "is_test": False, "is_scheduled": False,
    }  # fmt: skip
    await fill(tenantry.context, WebhookDelivery.__table__, rows, fixed, varying)
    async with tenantry.context() as ctx:
        await ctx.db.update(webhook, failed_count=rows)


async def _page_ms(tenantry: Tenantry, webhook: Webhook) -> float:
    times = []
    for _ in range(50):
        async with tenantry.context() as ctx:
            begun = time.perf_counter()
            found = await page_of_deliveries(
                ctx.detached(), webhook, DeliveryList(status=DeliveryStatus.failed)
            )
            times.append((time.perf_counter() - begun) * 1000)
            assert len(found.items) == 20
    return statistics.median(times)


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]
