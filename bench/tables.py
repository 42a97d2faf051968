"""What a data table costs when it is small and when it is large, and how fast a file goes into one.

    python -m bench.tables [rows]

CPU where all the work is ours, as on SQLite; time of day where another process does some of it.
"""

import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from bench.figures import KEY, Figure, tell
from bench.retrieval import context
from retinue.files import service as files
from retinue.kit.context.instance import Instance
from retinue.kit.http.uploads import UploadedFile
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tables import aggregates, queries, service
from retinue.tables.filters import Condition, FilterBuilder
from retinue.tables.job_kinds import ImportToRun
from retinue.tables.models import ColumnType, DataTable, ImportMode, ImportStatus, TableImport
from retinue.tables.schemas import ColumnCreate, TableCreate
from retinue.tables.storage import Layout
from retinue.tables.transfers.imports import run_import
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance

FEW, MANY = 1_000, 1_000_000
TIMES = 30
IMPORT_GOAL_US = 50.0
"""20,000 rows in a second of one core."""

COLUMNS = [
    ColumnCreate(name="name", type=ColumnType.text, required=True),
    ColumnCreate(name="email", type=ColumnType.email),
    ColumnCreate(name="age", type=ColumnType.integer),
    ColumnCreate(name="amount", type=ColumnType.number),
    ColumnCreate(name="active", type=ColumnType.boolean),
    ColumnCreate(name="day", type=ColumnType.date),
]
_LINE = "Customer number {0},customer{0}@example.com,{1},{2}.5,true,2026-{3:02d}-{4:02d}\n"


class Imported(msgspec.Struct):
    table: DataTable
    cpu_us: float
    rows_per_second: float
    more_megabytes: float


def _file(folder: Path, rows: int) -> UploadedFile:
    """Written line by line, so that the memory of the import is its own."""
    path = folder / f"{rows}.csv"
    with path.open("w") as file:
        file.write("name,email,age,amount,active,day\n")
        for n in range(rows):
            file.write(_LINE.format(n, n % 90, n % 10_000, n % 12 + 1, n % 28 + 1))
    return UploadedFile("file", "a.csv", "text/csv", path.stat().st_size, "", path)


async def bring(instance: Instance, tenant_id: str, rows: int, columns: list[ColumnCreate]) -> Imported:
    """A table made of a file of so many rows, by the job that does it."""
    async with context(instance, tenant_id) as ctx:
        table = await service.create(ctx, TableCreate(name=f"Bench {rows}", columns=columns))
    ctx = context(instance, tenant_id, reads_outside_transaction=True)
    file = _file(instance.settings.data_dir, rows)
    kept = await files.store_content(ctx, file, purpose="bench", filename="a.csv", mime_type="text/csv")
    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert(kept)
        run = await ctx.db.insert(
            TableImport(
                table_id=table.id, file_id=kept.id, filename="a.csv", format="csv", mode=ImportMode.append,
                match=[], row_key=table.row_key, errors=[], created_by="",
            )
        )  # fmt: skip
    Path("/proc/self/clear_refs").write_text("5")
    before, cpu, wall = _memory("VmRSS"), _cpu(), time.perf_counter()
    await run_import(context(instance, tenant_id, reads_outside_transaction=True), ImportToRun(run.id))
    cpu, wall = _cpu() - cpu, time.perf_counter() - wall
    async with context(instance, tenant_id) as ctx:
        done = await ctx.db.get(TableImport, run.id)
        stored = await ctx.db.get(DataTable, table.id)
    assert done is not None
    assert stored is not None
    assert (done.status, stored.row_count) == (ImportStatus.completed, rows), done
    return Imported(stored, cpu / rows * 1e6, rows / wall, _memory("VmHWM") - before)


def _cpu() -> float:
    """Of this process and of the one that read the file."""
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + child.ru_utime + child.ru_stime


def _memory(name: str) -> float:
    """Megabytes this process has, or has had at most since it was last asked to forget that."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


async def _ms(instance: Instance, times: int, act: Callable[[int], Awaitable[Any]]) -> float:
    """What the quicker half takes, for a machine that has other things to do as well."""
    clock = time.process_time if instance.database.dialect == "sqlite" else time.perf_counter
    spent = []
    for number in range(times):
        started = clock()
        await act(number)
        spent.append((clock() - started) * 1000)
    return statistics.median(sorted(spent)[: max(1, times // 2)])


async def costs(instance: Instance, tenant_id: str, table: DataTable) -> dict[str, float]:
    """Milliseconds for what people do with a table."""

    def condition(filter: dict[str, Any]) -> Condition:
        filtering = FilterBuilder(Layout(table))
        filtering.add_filter(filter)
        return filtering.condition()

    async def insert(number: int) -> None:
        values = {"name": f"New {number}", "age": 95, "amount": 1, "day": "2026-01-01"}
        async with context(instance, tenant_id) as ctx:
            await service.insert_row(ctx, table.id, values)

    async def read(filter: dict[str, Any], sort: str | None = None, page: int = 1) -> None:
        ctx = context(instance, tenant_id, reads_outside_transaction=True)
        await queries.page(ctx, table, condition(filter), sort=sort, page=page, per_page=20)

    async def grouped(_: int) -> None:
        ctx = context(instance, tenant_id, reads_outside_transaction=True)
        await aggregates.aggregate(ctx, table, Condition(), "age", "count,sum:amount")

    few = 3 if table.row_count > FEW else TIMES
    return {
        "newest 20 rows": await _ms(instance, TIMES, lambda _: read({})),
        "20 rows by an indexed column": await _ms(
            instance, TIMES, lambda n: read({"email": f"customer{n}@example.com"})
        ),
        "20 rows sorted by it": await _ms(instance, TIMES, lambda _: read({}, "email")),
        "20 rows by a column without index": await _ms(instance, few, lambda n: read({"amount": n + 0.5})),
        "groups of all rows, with a sum": await _ms(instance, few, grouped),
        "adding a row": await _ms(instance, TIMES, insert),
    }


async def measure(url: str = "", rows: int = MANY) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        key = Secret(KEY["RETINUE_MASTER_KEY"])
        settings = Settings(data_dir=Path(folder), database_url=url, worker="off", master_key=key)
        instance = await open_instance(settings)
        try:
            return await _figures(instance, rows)
        finally:
            await close_instance(instance)


async def _figures(instance: Instance, rows: int) -> list[Figure]:
    async with context(instance, "") as ctx:
        tenant = await ctx.system("bench").insert(Tenant(name="Bench", plan=Plan.enterprise))
    indexed = [ColumnCreate(name=c.name, type=c.type, indexed=c.name == "email") for c in COLUMNS]
    plain = await bring(instance, tenant.id, rows // 10, COLUMNS)
    large = await bring(instance, tenant.id, rows, indexed)
    small = await bring(instance, tenant.id, FEW, indexed)
    of_large = await costs(instance, tenant.id, large.table)
    of_small = await costs(instance, tenant.id, small.table)
    figures = [
        Figure(f"a row of a CSV file of {rows // 10:,}", plain.cpu_us, "us CPU", IMPORT_GOAL_US),
        Figure("the same, rows in a second of the clock", plain.rows_per_second, "rows/s", None),
        Figure(f"a row of {rows:,}, one column indexed", large.cpu_us, "us CPU", 2 * IMPORT_GOAL_US),
        Figure("memory that takes", large.more_megabytes, "MB", 64),
    ]
    for name, large_ms in of_large.items():
        goal = 1000 if "without" in name else 2500 if "groups" in name else 25
        figures += [
            Figure(f"{name}, of {FEW:,}", of_small[name], "ms", 50),
            Figure(f"{name}, of {rows:,}", large_ms, "ms", goal),
        ]
    return figures


if __name__ == "__main__":
    tell(measure, MANY)
