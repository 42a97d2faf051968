"""The same questions to a table with few rows and to one with many."""

import contextlib
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg

from bench.figures import KEY, Figure
from bench.forms import cost_ms
from bench.retrieval import context
from retinue.kit.context.instance import Instance
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance

FEW, MANY = 1_000, 1_000_000
MOST_GROWTH = 2.0
"""How many times as long the many rows may take,"""
COUNTING_MS = 20.0
"""besides the counting, and the way from a milestone to the page: both go through ten thousand entries."""
Question = Callable[[], Awaitable[int]]
"""Asks, and tells how many rows it was shown."""


@contextlib.asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[Instance]:
    """An instance of its own, which no worker serves."""
    with tempfile.TemporaryDirectory() as folder:
        key = Secret(KEY["RETINUE_MASTER_KEY"])
        instance = await open_instance(
            Settings(data_dir=Path(folder), database_url=url, worker="off", master_key=key, **settings)
        )
        try:
            yield instance
        finally:
            await close_instance(instance)


async def analyse(url: str, *tables: str) -> None:
    """What the database does by itself a minute later."""
    if url:
        connection = await asyncpg.connect(url)
        for table in tables:
            await connection.execute(f"VACUUM ANALYZE {table}")
        await connection.close()


async def compare(
    instance: Instance,
    subject: str,
    many: int,
    *,
    fill: Callable[[Instance, str, int], Awaitable[None]],
    ask: Callable[[Instance, str, int], dict[str, Question]],
    is_right: Callable[[str, int], bool],
) -> list[Figure]:
    """Fill a tenant's table with few rows and another's with many, and ask both the same."""
    costs = []
    for rows in (FEW, many):
        async with context(instance, "") as ctx:
            tenant = await ctx.system("bench").insert(Tenant(name=f"{rows}", plan=Plan.enterprise))
        await fill(instance, tenant.id, rows)
        costs.append(
            await _time(instance, f"{rows:,} rows of {subject}", ask(instance, tenant.id, rows), is_right)
        )
    of_few, of_many = costs
    return [
        Figure(
            f"{subject}, {name}: {of_few[name]:.2f} ms of {FEW:,}, of {many:,}",
            of_many[name],
            "ms",
            MOST_GROWTH * of_few[name] + COUNTING_MS,
        )
        for name in of_few
    ]


async def _time(
    instance: Instance, where: str, questions: dict[str, Question], is_right: Callable[[str, int], bool]
) -> dict[str, float]:
    costs = {}
    for name, ask in questions.items():
        began = time.perf_counter()
        shown = await ask()
        first_ms = 1000 * (time.perf_counter() - began)
        sys.stdout.write(f"{where}, {name}: {shown} shown, the first time in {first_ms:.1f} ms\n")
        assert is_right(name, shown), f"{name}: {shown}"
        costs[name] = await cost_ms(instance, ask)
    return costs
