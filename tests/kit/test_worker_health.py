"""`/health` tells a worker that fails from one that works."""

import asyncio
from typing import Any

import msgspec
import pytest
from structlog.testing import CapturedCall, CapturingLogger

from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.kit.clock import ManualClock
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.db.errors import StorageFull
from retinue.kit.errors import RetinueError
from retinue.kit.jobs import runner
from retinue.kit.jobs.declare import JobKind, Retry, implement
from retinue.kit.jobs.worker_health import FAULT_WINDOW_SECONDS, MAX_TURN_FAILURE_SECONDS, MIN_FAULTS
from tests.client import Api
from tests.factories.people import People

pytestmark = pytest.mark.one_service("asks one process for its worker")


class Order(msgspec.Struct):
    error: str


class Refused(RetinueError):
    """A destination said no."""


async def fail(_ctx: Context, order: Order) -> None:
    if order.error == "unexpected":
        raise ValueError
    if order.error == "expected":
        raise Refused


FAIL = JobKind("test.fail", Order, retry=Retry(delays=(0,)))
MANIFEST = Manifest(name="failing", jobs=(implement(FAIL, fail),))


@pytest.fixture
async def service(make_service: Any) -> Service:
    made: Service = await make_service(manifests=(*DOMAINS, MANIFEST), worker="inline")
    return made


async def worker_of(service: Service) -> str:
    answer = await Api(service).get("/health")
    worker = answer.json()["worker"]
    status, parts = ("ok", None) if worker in {"ok", "off"} else ("degraded", ["worker"])
    assert (answer.status, answer.json()["status"], answer.json().get("degraded")) == (200, status, parts)
    told: str = answer.json()["worker"]
    return told


async def run_jobs(service: Service, *errors: str) -> None:
    """Have the worker run these jobs, and wait for their end."""
    for error in errors:
        async with People(service).context() as ctx:
            ctx.defer(FAIL, Order(error))
        waiting = "SELECT id FROM jobs WHERE kind = 'test.fail' AND state IN ('ready', 'running')"
        while await service.instance.database.fetch(waiting, []):
            await asyncio.sleep(0.01)


async def test_jobs_that_all_fail_by_a_fault_of_ours_make_it_failing(
    service: Service, clock: ManualClock
) -> None:
    await run_jobs(service, *["unexpected"] * (MIN_FAULTS - 1))
    assert await worker_of(service) == "ok"
    await run_jobs(service, "unexpected")
    assert await worker_of(service) == "failing"
    await run_jobs(service, "none")
    assert await worker_of(service) == "ok", "one job that succeeds is enough"
    await run_jobs(service, *["unexpected"] * MIN_FAULTS)
    assert await worker_of(service) == "failing"
    clock.advance(FAULT_WINDOW_SECONDS)
    assert await worker_of(service) == "ok", "what happened long ago says nothing"


async def test_what_others_refuse_is_no_fault_of_the_worker(service: Service) -> None:
    await run_jobs(service, *["expected"] * (2 * MIN_FAULTS))
    assert await worker_of(service) == "ok"


async def test_a_full_disk_is_one_line_for_each_turn(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise StorageFull

    logger = CapturingLogger()
    with monkeypatch.context() as patched:
        patched.setattr(runner, "log", logger)
        patched.setattr(service.runner._queue, "claim", refuse)
        async with People(service).context() as ctx:
            ctx.defer(FAIL, Order("none"))
        while not service.runner.health._failing_since:
            await asyncio.sleep(0.01)
        while not logger.calls:
            await asyncio.sleep(0.01)
    worker = service.runner.status().worker
    assert logger.calls[0] == CapturedCall("warning", ("storage_full",), {"worker": worker})


async def test_turns_that_keep_failing_make_it_failing(
    service: Service, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("the claim is broken")

    with monkeypatch.context() as patched:
        patched.setattr(service.runner._queue, "claim", broken)
        async with People(service).context() as ctx:
            ctx.defer(FAIL, Order("none"))
        while not service.runner.health._failing_since:
            await asyncio.sleep(0.01)
        assert await worker_of(service) == "ok"
        clock.advance(MAX_TURN_FAILURE_SECONDS)
        assert await worker_of(service) == "failing"
    for _ in range(500):
        if await worker_of(service) == "ok":
            return
        await asyncio.sleep(0.02)
    raise AssertionError("a turn that succeeds ends it")
