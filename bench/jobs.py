"""What a job costs: CPU to drain one, and the time from enqueueing to its start."""

import asyncio
import statistics
import tempfile
import time

import msgspec

from bench.figures import Figure, settings_of_run
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.context.manifest import Manifest
from retinue.kit.jobs.declare import JobKind, implement
from retinue.kit.jobs.runner import Runner
from retinue.kit.principal import SYSTEM
from retinue.wiring import close_instance, open_instance

JOBS = 4000
STARTS = 200

_done = asyncio.Event()
_ran = 0
_started: list[float] = []


class Numbered(msgspec.Struct):
    number: int


async def _do_nothing(ctx: Context, payload: Numbered) -> None:
    global _ran  # noqa: PLW0603  a counter of the benchmark's one process
    _ran += 1
    if _ran == JOBS:
        _done.set()


async def _note_start(ctx: Context, payload: Numbered) -> None:
    _started.append(time.perf_counter())
    _done.set()


NOTHING = JobKind("bench.nothing", Numbered, queue="bench")
START = JobKind("bench.start", Numbered, queue="bench")


async def measure(url: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_of_run(folder, url)
        manifest = Manifest(
            name="bench_jobs", jobs=(implement(NOTHING, _do_nothing), implement(START, _note_start))
        )
        instance = await open_instance(settings, manifests=(manifest,))
        try:
            return [await _drain(instance), await _latency(instance)]
        finally:
            await close_instance(instance)


async def _enqueue(instance: Instance, kind: JobKind[Numbered], numbers: range) -> None:
    async with Context(instance, SYSTEM, Caller(correlation_id="cor_bench")) as ctx:
        for number in numbers:
            ctx.defer(kind, Numbered(number))


async def _drain(instance: Instance) -> Figure:
    global _ran  # noqa: PLW0603
    _ran = 0
    _done.clear()
    for start in range(0, JOBS, 1000):
        await _enqueue(instance, NOTHING, range(start, start + 1000))
    runner = Runner(instance, concurrency={"bench": 50})
    before = time.process_time()
    await runner.start()
    await asyncio.wait_for(_done.wait(), 120)
    await runner.stop()
    return Figure("drain of a job, CPU", (time.process_time() - before) / JOBS * 1e6, "us", 100)


async def _latency(instance: Instance) -> Figure:
    runner = Runner(instance)
    await runner.start()
    waits = []
    for number in range(STARTS):
        _done.clear()
        _started.clear()
        asked = time.perf_counter()
        await _enqueue(instance, START, range(number, number + 1))
        await asyncio.wait_for(_done.wait(), 10)
        waits.append((_started[0] - asked) * 1000)
        await asyncio.sleep(0.005)
    await runner.stop()
    return Figure("enqueue to start, p50", statistics.median(waits), "ms", 15)
