"""What a submission costs beside a bare insert, and what a form with many submissions costs to read.

python -m bench.forms [submissions]
"""

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from bench.figures import KEY, Figure
from bench.requests import NOTE, Scenario, Side, call, environment, sign_in
from bench.retrieval import context
from bench.servers import Server
from retinue.forms import analytics, service, submissions
from retinue.forms.models import Form, FormDay, FormStatus, Submission
from retinue.forms.schemas import AnalyticsQuery, FormCreate, SubmissionList
from retinue.kit.db.bulk import insert_rows
from retinue.kit.instance import Instance
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance

MANY = 1_000_000
TIMES = 15
ROUNDS = 5
READ_GOAL_MS = 50.0
SUBMIT_GOAL = 2.5
FIELDS = [
    {"id": "name", "type": "text", "label": "Name", "required": True, "validation": {"max_length": 200}},
    {"id": "email", "type": "email", "label": "E-mail", "required": True},
    {"id": "message", "type": "textarea", "label": "Message"},
    {"id": "topic", "type": "select", "label": "Topic", "options": ["sales", "support"]},
]
ANSWER = msgspec.json.encode(
    {
        "data": {
            "name": "Ada Lovelace",
            "email": "ada@example.com",
            "message": "Some words to store. " * 8,
            "topic": "sales",
        }
    }
)


async def make_form(server: Server, token: str) -> str:
    """The public address that takes answers."""
    limits = {"submit": 100_000, "total": 100_000}
    body = {"name": "Bench", "fields": FIELDS, "settings": {"limits": limits}}
    made: Any = await call(server.port, "POST", "/api/v1/forms", msgspec.json.encode(body), token)
    await call(server.port, "POST", f"/api/v1/forms/{made['data']['id']}/publish", b"{}", token)
    return f"/api/v1/public/forms/{made['data']['slug']}/submit"


async def submit_ratio(url: str, rounds: int) -> float:
    """What a submission costs our server, in inserts of a bare application with the same driver."""
    with tempfile.TemporaryDirectory() as folder:
        servers: list[Server] = []
        try:
            servers.append(Server("bench.ours", env=environment(folder, url)))
            token = await sign_in(servers[0])
            await call(servers[0].port, "POST", "/bench/notes", NOTE, token)
            path = await make_form(servers[0], token)
            servers.append(Server("bench.bare", url or str(Path(folder) / "retinue.db"), ""))
            submit = Scenario("submit", "POST", path, 500, {}, {}, body=ANSWER)
            insert = Scenario("insert", "POST", "/bench/notes", 500, {}, {}, body=NOTE)
            ratios = []
            for _ in range(rounds + 1):
                ours = await Side(servers[0]).measure(submit)
                ratios.append(ours / await Side(servers[1]).measure(insert))
        finally:
            for server in reversed(servers):
                server.stop()
    return statistics.median(ratios[1:])


async def fill(instance: Instance, tenant_id: str, many: int) -> Form:
    """A form with so many submissions, and the sums that the jobs would have made of them."""
    async with context(instance, tenant_id) as ctx:
        form = await service.create(ctx, FormCreate(name="Bench", fields=FIELDS))
        await ctx.db.update(form, status=FormStatus.published)
        for number in range(100):
            day = f"2026-{1 + number // 28:02d}-{1 + number % 28:02d}"
            await ctx.db.insert(
                FormDay(
                    id=f"{form.id}.{day}",
                    form_id=form.id,
                    day=day,
                    views=many // 50,
                    submissions=many // 100,
                    filled={"name": many // 100},
                    sources={"public": many // 100},
                )
            )
    names = tuple(name for name in Submission.__struct_fields__ if name != "tenant_id")
    for start in range(0, many, 10_000):
        async with context(instance, tenant_id) as ctx:
            rows = [_row(form, number, many, names) for number in range(start, min(many, start + 10_000))]
            await insert_rows(ctx.db, Submission.__table__, names, rows)
    return form


def _row(form: Form, number: int, many: int, names: tuple[str, ...]) -> list[Any]:
    day = number * 100 // many
    at = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T08:00:00.{number % 1_000_000:06d}Z"
    one = Submission(
        id=f"sbm_{number:026d}",
        created_at=at,
        updated_at=at,
        form_id=form.id,
        form_version=1,
        source="public",
        data={"name": f"Visitor {number}", "email": f"v{number}@example.com"},
        metadata={"source": "public"},
        searched=f"visitor {number}\nv{number}@example.com",
        is_uncounted=False,
    )
    values = [getattr(one, name) for name in names]
    return [
        msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value for value in values
    ]


async def read(instance: Instance, tenant_id: str, form: Form, many: int) -> list[Figure]:
    ctx = context(instance, tenant_id, reads_freely=True)

    def listed(**query: Any) -> Callable[[], Awaitable[Any]]:
        return lambda: submissions.page(ctx, form, SubmissionList(**query))

    asked = {
        "first page": listed(),
        "by status": listed(status="received"),
        "of a day": listed(after="2026-02-01", before="2026-02-02"),
        "search": listed(search="visitor 99"),
        "analytics": lambda: analytics.collect(ctx, form, AnalyticsQuery()),
    }
    return [
        Figure(f"{many:,} submissions: {name}", await _cost_ms(ask), "ms", READ_GOAL_MS)
        for name, ask in asked.items()
    ]


async def _cost_ms(ask: Callable[[], Awaitable[Any]]) -> float:
    taken = []
    for _ in range(TIMES):
        before, at = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        await ask()
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        taken.append(min(cpu, time.perf_counter() - at) * 1000)
    return statistics.median(taken)


async def measure(url: str = "", many: int = MANY) -> list[Figure]:
    ratio = Figure("a submission, in bare inserts", await submit_ratio(url, ROUNDS), "x", SUBMIT_GOAL)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            data_dir=Path(folder),
            database_url=url,
            master_key=Secret(KEY["RETINUE_MASTER_KEY"]),
            worker="off",
        )
        instance = await open_instance(settings)
        try:
            async with context(instance, "") as ctx:
                system = ctx.system("a tenant of the benchmark")
                tenant = await system.insert(Tenant(name="Bench", plan=Plan.enterprise))
            form = await fill(instance, tenant.id, many)
            return [ratio, *await read(instance, tenant.id, form, many)]
        finally:
            await close_instance(instance)


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    for figure in asyncio.run(measure(os.environ.get("RETINUE_BENCH_DATABASE_URL", ""), many)):
        sys.stdout.write(f"{figure.name}: {figure.value:.3g} {figure.unit} (≤ {figure.goal:g})\n")


if __name__ == "__main__":
    main()
