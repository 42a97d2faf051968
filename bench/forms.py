"""What a submission costs, and what a form with many submissions costs to read.

python -m bench.forms [submissions]
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg

from bench import submitting
from bench.figures import KEY, Figure, tell
from bench.retrieval import context
from retinue.forms import service, submissions
from retinue.forms.after import analytics
from retinue.forms.after.daily_counts import count_submissions
from retinue.forms.after.search_index import ADD_WORDS, index_text, row_number, tagged_words
from retinue.forms.models import Form, FormDay, FormStatus, SearchIndex, Submission
from retinue.forms.schemas import AnalyticsQuery, FormCreate, SubmissionList
from retinue.kit.context.instance import Instance
from retinue.kit.db.bulk import insert_rows
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance

MANY = 1_000_000
TIMES = 15
READ_GOAL_MS = 50.0
INDEX_GOAL_US = 300.0
NEW = 3_000
ROW_KEY = 1
WORDS_INDEX = "ix_submission_words_words"
NAMES = (
    "id", "created_at", "updated_at", "form_id", "form_version", "status", "data", "metadata", "files",
    "source", "searched", "submitted_by", "is_signed_in", "is_uncounted", "number",
)  # fmt: skip
TOPICS = ("sales", "support", "billing", "delivery", "return", "praise", "other")


async def fill(instance: Instance, tenant_id: str, many: int, url: str) -> Form:
    """A form with so many submissions, and the sums and the words that the job would have made of them."""
    async with context(instance, tenant_id) as ctx:
        form = await service.create(ctx, FormCreate(name="Bench", fields=submitting.FIELDS))
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
        await ctx.db.insert(SearchIndex(id=form.id, form_id=form.id, row_key=ROW_KEY, indexed=many))
    async with _loading(url):
        for start in range(0, many, 10_000):
            some = range(start, min(many, start + 10_000))
            async with context(instance, tenant_id) as ctx:
                await insert_rows(ctx.db, Submission.__table__, NAMES, _rows(form, some, many))
                words = [
                    {
                        "number": row_number(ROW_KEY, number),
                        "owner": tenant_id,
                        "words": tagged_words(form.id, number, _words(number)),
                    }
                    for number in some
                ]
                await ctx.system("words of the benchmark").execute_many(ADD_WORDS, words)
    return form


@contextlib.asynccontextmanager
async def _loading(url: str) -> AsyncIterator[None]:
    """On PostgreSQL the index is made of all words at once, which is so much quicker than word by word."""
    if not url:
        yield
        return
    connection = await asyncpg.connect(url)
    made = await connection.fetchval("SELECT indexdef FROM pg_indexes WHERE indexname = $1", WORDS_INDEX)
    await connection.execute(f"DROP INDEX {WORDS_INDEX}")
    yield
    await connection.execute(made)
    await connection.execute("ANALYZE")
    await connection.close()


def _words(number: int) -> str:
    """Some that everyone has, some that many have, and some that one has."""
    topics = f"{TOPICS[number % 7]} {TOPICS[number % 11 % 7]}"
    return f" visitor {number} v{number} example com examplecom {topics}"


def _rows(form: Form, some: range, many: int) -> list[tuple[Any, ...]]:
    """In the order of `NAMES`."""
    made = []
    for number in some:
        day = number * 100 // many
        at = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T08:00:00.{number % 1_000_000:06d}Z"
        data = f'{{"name":"Visitor {number}","email":"v{number}@example.com"}}'
        made.append(
            (
                f"sbm_{number:026d}", at, at, form.id, 1, "received", data, '{"source":"public"}', "[]",
                "public", _words(number), "", False, False, row_number(ROW_KEY, number),
            )
        )  # fmt: skip
    return made


async def read(instance: Instance, tenant_id: str, form: Form, many: int) -> list[Figure]:
    ctx = context(instance, tenant_id, reads_outside_transaction=True)

    def listed(**query: Any) -> Callable[[], Awaitable[Any]]:
        return lambda: submissions.page(ctx, form, SubmissionList(**query))

    asked = {
        "first page": listed(),
        "by status": listed(status="received"),
        "of a day": listed(after="2026-02-01", before="2026-02-02"),
        "search, a word that all have": listed(search="visitor"),
        "search, the beginnings of two": listed(search="visitor 99"),
        "search, a word that one has": listed(search="v123456"),
        "search, a word that none has": listed(search="nothing"),
        "search in a status": listed(search="support", status="received"),
        "search in a day": listed(search="support", after="2026-02-01", before="2026-02-02"),
        "analytics": lambda: analytics.load_analytics(ctx, form, AnalyticsQuery()),
    }
    return [
        Figure(f"{many:,} submissions: {name}", await cost_ms(instance, ask), "ms", READ_GOAL_MS)
        for name, ask in asked.items()
    ]


async def cost_ms(instance: Instance, ask: Callable[[], Awaitable[Any]]) -> float:
    """CPU where all the work is ours, as on SQLite; time of day where another process does some of it."""
    taken = []
    for _ in range(TIMES):
        cpu, at = time.process_time(), time.perf_counter()
        await ask()
        cpu, clock = time.process_time() - cpu, time.perf_counter() - at
        taken.append((min(cpu, clock) if instance.database.dialect == "sqlite" else clock) * 1000)
    return statistics.median(taken)


async def indexing_us(instance: Instance, tenant_id: str, form: Form) -> float:
    """What counting and indexing a submission costs us, for the job that does it."""
    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert_many(
            Submission(
                form_id=form.id, form_version=1, data={"name": "Ada"}, metadata={}, source="public",
                searched=_words(number) + index_text(f"some other words {number // 3} of a message"),
            )
            for number in range(NEW)
        )  # fmt: skip
    started = time.process_time()
    await count_submissions(context(instance, tenant_id, reads_outside_transaction=True))
    return (time.process_time() - started) / NEW * 1e6


async def measure(url: str = "", many: int = MANY) -> list[Figure]:
    submitted = await submitting.measure(url)
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
            form = await fill(instance, tenant.id, many, url)
            return [
                *submitted,
                *await read(instance, tenant.id, form, many),
                Figure(
                    "counting and indexing one", await indexing_us(instance, tenant.id, form), "us CPU",
                    INDEX_GOAL_US,
                ),
            ]  # fmt: skip
        finally:
            await close_instance(instance)


if __name__ == "__main__":
    tell(measure, MANY)
