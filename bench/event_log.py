"""What the event log costs to read when it is short and when it is long.

python -m bench.event_log [rows]
"""

import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import sqlalchemy as sa

from bench.figures import KEY, Figure, tell
from bench.filling import fill
from bench.forms import cost_ms
from bench.retrieval import context
from retinue.events.queries import load_trace, page_of_events
from retinue.events.schemas import EventLogQuery
from retinue.kit.context.instance import Instance
from retinue.kit.events.models import EventEntry
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance

FEW, MANY = 1_000, 1_000_000
TYPES, CATEGORIES, IN_A_TRACE = 20, 5, 5
MOST_GROWTH = 2.0
"""How many times as long a page of the long log may take,"""
COUNTING_MS = 20.0
"""besides the counting, and the way from a milestone to the page: both go through ten thousand entries."""
DATA = {"order_id": "ord_1", "customer": "Ada Lovelace", "amount": 12.5, "note": "Some words. " * 10}


async def fill_log(instance: Instance, tenant_id: str, rows: int) -> None:
    """Undispatched is none of them: the log of someone whose worker keeps up."""

    def varying(number: Any, text: Any) -> dict[str, Any]:
        at = sa.literal("2026-11-15T08:30:00.") + text
        trace_number = sa.cast(number // IN_A_TRACE, sa.Text())
        return {
            "id": sa.literal(tenant_id) + text,
            "created_at": at,
            "updated_at": at,
            "type": sa.literal("bench.type") + sa.cast(number % TYPES, sa.Text()),
            "category": sa.literal("category") + sa.cast(number % CATEGORIES, sa.Text()),
            "correlation_id": sa.literal("cor_") + trace_number,
        }

    fixed = {
        "tenant_id": tenant_id, "subject_id": "ord_1", "data": DATA, "actor": {"type": "user", "id": "usr_1"},
        "hops": 0, "is_test": False, "position": 0, "is_dispatched": True,
    }  # fmt: skip
    await fill(partial(context, instance, tenant_id), EventEntry.__table__, rows, fixed, varying)


def asked(instance: Instance, tenant_id: str, rows: int) -> dict[str, Callable[[], Awaitable[int]]]:
    """What people ask of a log; each tells how many entries it was shown."""
    ctx = context(instance, tenant_id, reads_outside_transaction=True)

    def listed(**query: Any) -> Callable[[], Awaitable[int]]:
        async def ask() -> int:
            return len((await page_of_events(ctx, EventLogQuery(**query))).items)

        return ask

    async def traced() -> int:
        return len((await load_trace(ctx, f"cor_{rows // IN_A_TRACE // 2}"))[0])

    return {
        "first page": listed(),
        "the page in the middle": listed(page=rows // 40),
        "the last page": listed(page=rows // 20),
        "by type": listed(event_type="bench.type7"),
        "by a type that nothing has": listed(event_type="bench.nothing"),
        "by category": listed(category="category3"),
        "by type and category": listed(event_type="bench.type7", category="system"),
        "by correlation id": listed(correlation_id=f"cor_{rows // IN_A_TRACE // 2}"),
        "until a moment": listed(to=f"2026-11-15T08:30:00.{rows // 2:07d}Z"),
        "a trace": traced,
    }


async def read(instance: Instance, tenant_id: str, rows: int) -> dict[str, float]:
    costs = {}
    for name, ask in asked(instance, tenant_id, rows).items():
        began = time.perf_counter()
        shown = await ask()
        first_ms = 1000 * (time.perf_counter() - began)
        sys.stdout.write(f"{rows:,} entries, {name}, asked for the first time: {first_ms:.1f} ms\n")
        assert shown == EXPECTED.get(name, 20), f"{name}: {shown}"
        costs[name] = await cost_ms(instance, ask)
    return costs


EXPECTED = {
    "by a type that nothing has": 0,
    "by correlation id": IN_A_TRACE,
    "a trace": IN_A_TRACE,
}


async def measure(url: str = "", many: int = MANY) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        key = Secret(KEY["RETINUE_MASTER_KEY"])
        instance = await open_instance(
            Settings(data_dir=Path(folder), database_url=url, worker="off", master_key=key)
        )
        try:
            return await _figures(instance, url, many)
        finally:
            await close_instance(instance)


async def _figures(instance: Instance, url: str, many: int) -> list[Figure]:
    costs = []
    for rows in (FEW, many):
        async with context(instance, "") as ctx:
            tenant = await ctx.system("bench").insert(Tenant(name=f"{rows}", plan=Plan.enterprise))
        await fill_log(instance, tenant.id, rows)
        await _analyse(url)
        costs.append(await read(instance, tenant.id, rows))
    of_few, of_many = costs
    return [
        Figure(
            f"event log, {name}: {of_few[name]:.2f} ms of {FEW:,}, of {many:,}",
            of_many[name],
            "ms",
            MOST_GROWTH * of_few[name] + COUNTING_MS,
        )
        for name in of_few
    ]


async def _analyse(url: str) -> None:
    """What the database does by itself a minute later."""
    if url:
        connection = await asyncpg.connect(url)
        await connection.execute("VACUUM ANALYZE event_log")
        await connection.close()


if __name__ == "__main__":
    tell(measure, MANY)
