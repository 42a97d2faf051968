"""An instance whose only domain is made of jobs that leave marks, so that tests can count their effects."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy.schema import CreateTable, DropTable

from retinue.kit.clock import Clock, ManualClock
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.context.manifest import Manifest
from retinue.kit.db.engine import Database
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import DIALECTS
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.declare import Event, EventOccurred, Listener, event
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import WorkerTransaction
from retinue.kit.jobs.declare import Attempt, AttemptResult, GiveUp, Retry, RetryLater
from retinue.kit.jobs.models import Job
from retinue.kit.jobs.runner import Runner
from retinue.kit.principal import Principal
from retinue.kit.settings import Settings
from retinue.wiring import close_instance, open_instance
from tests.kit.job_factory import handlers, job
from tests.pgbouncer import database_settings

PATIENCE_S = 10


@table("test_marks", prefix="mrk")
class Mark(TenantRecord, kw_only=True):
    name: str
    note: str = ""


class Named(msgspec.Struct):
    name: str


class Gate:
    """Holds jobs up until it is opened, and knows which have arrived."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.arrived: list[str] = []
        self._changed = asyncio.Event()

    async def pass_through(self, name: str) -> None:
        self.arrived.append(name)
        self._changed.set()
        await self.opened.wait()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.arrived) < count:
                self._changed.clear()
                await self._changed.wait()


gates: dict[str, Gate] = {}
ran: list[str] = []


@event("system.marked", subject="name", audited=True)
class Marked(Event):
    """A test left a mark."""

    name: str


@event("system.mark_counted", subject="name")
class MarkCounted(Event):
    """A listener saw a mark."""

    name: str


@job()
async def leave_mark(ctx: Context, payload: Named) -> None:
    await ctx.db.insert(Mark(name=payload.name))
    ctx.emit(Marked(name=payload.name))


@job()
async def do_nothing(ctx: Context, payload: Named) -> None:
    ran.append(payload.name)


@job(queue="gated")
async def wait_at_gate(ctx: Context, payload: Named) -> None:
    """Waits at the gate; a second run, after a lost lease, waits at the second gate."""
    gate = gates["second gate" if ctx.caller.correlation_id in passed else "gate"]
    passed.add(ctx.caller.correlation_id)
    await gate.pass_through(payload.name)
    await ctx.db.insert(Mark(name=payload.name))


passed: set[str] = set()


@job(retry=Retry(delays=(0, 5, 30), jitter=0))
async def fail_always(ctx: Context, payload: Named) -> None:
    ran.append(payload.name)
    await ctx.db.insert(Mark(name=payload.name))
    raise ValueError("password=hunter2")


@job(retry=Retry(delays=(0, 100), jitter=0.1))
async def fail_with_jitter(ctx: Context, payload: Named) -> None:
    raise ValueError(payload.name)


@job(retry=Retry(delays=(0,)))
async def end_as_told(ctx: Context, payload: Named) -> None:
    ran.append(payload.name)
    raise {
        "give up": GiveUp("there is no such address"),
        "later": RetryLater(600),
        "no database": DatabaseUnavailable(),
        "cancelled": asyncio.CancelledError(),
    }[payload.name]


@job(timeout_s=0.01, retry=Retry(delays=(0,)))
async def take_forever(ctx: Context, payload: Named) -> None:
    await ctx.db.insert(Mark(name=payload.name))
    await asyncio.Event().wait()


@job(transactional=False)
async def call_outside(ctx: Context, payload: Named) -> None:
    with (ctx.settings.data_dir / "outside").open("a") as outside:
        outside.write(payload.name + "\n")


@job()
async def enqueue_more(ctx: Context, payload: Named) -> None:
    ctx.defer(leave_mark, Named(name=f"{payload.name}, first"))
    ctx.defer(leave_mark, Named(name=f"{payload.name}, second"))


@job(queue="lanes", at_once=12, per_lane=2, transactional=False)
async def wait_in_lane(ctx: Context, payload: Named) -> None:
    """Only those named slow wait."""
    if payload.name == "slow":
        await gates["gate"].pass_through(payload.name)
    ran.append(payload.name)


async def leave_marks_of_attempts(routing: WorkerTransaction, concluded: Sequence[AttemptResult]) -> None:
    batches.append(len(concluded))
    marks = [
        Mark(tenant_id=one.tenant_id, name=one.payload.name, note=f"{one.result} {one.state} {one.error}")
        for one in concluded
    ]
    await routing.system.insert_many(marks)
    for one in concluded:
        if one.state == "dead":
            routing.defer(one, do_nothing, Named(name=f"after {one.payload.name}"))


batches: list[int] = []


@job(retry=Retry(delays=(0, 5, 30), jitter=0), transactional=False, conclude=leave_marks_of_attempts)
async def attempt(ctx: Context, payload: Named) -> Attempt:
    number = ctx.caller.attempt
    if payload.name == "raises":
        raise ValueError("secret")
    is_done = payload.name == "good" or (payload.name == "second time" and number == 2)
    min_delay_s = 50 if payload.name == "slowly" else 0
    return Attempt(f"attempt {number}", is_done, None if is_done else "refused", min_delay_s)


@job(every_s=60)
async def keep_time(ctx: Context) -> None:
    ran.append("keep_time")


@job()
async def count_mark(ctx: Context, payload: EventOccurred) -> None:
    """Leaves a mark about the event, with everything a listener is told."""
    entry = await ctx.db.get(EventEntry, payload.event_id)
    caller = ctx.caller
    note = f"{payload.type} {entry.data['name']} {caller.correlation_id} {caller.hops} {ctx.actor['id']}"
    await ctx.db.insert(Mark(name=f"counted {entry.data['name']}", note=note))
    ctx.emit(MarkCounted(name=entry.data["name"]))


@job()
async def hear_everything(ctx: Context, payload: EventOccurred) -> None:
    entry = await ctx.db.get(EventEntry, payload.event_id)
    ran.append(f"{payload.type} {entry.data['name']}")


JOBS = (
    leave_mark,
    do_nothing,
    wait_at_gate,
    fail_always,
    fail_with_jitter,
    end_as_told,
    take_forever,
    call_outside,
    enqueue_more,
    wait_in_lane,
    attempt,
)
LISTENERS = (Listener("system.marked", count_mark), Listener("*", hear_everything))
WORKSHOP = Manifest(name="workshop", jobs=handlers(*JOBS, count_mark, hear_everything), listeners=LISTENERS)
CLOCKWORK = Manifest(name="clockwork", jobs=handlers(keep_time, do_nothing))


class Workshop:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.clock: Any = instance.clock
        self.runners: list[Runner] = []

    def runner(self, **concurrency: int) -> Runner:
        made = Runner(self.instance, concurrency=concurrency)
        self.runners.append(made)
        return made

    async def drain(self, **concurrency: int) -> int:
        return await self.runner(**concurrency).drain()

    @asynccontextmanager
    async def context(self, tenant_id: str = "ten_a", **caller: Any) -> AsyncIterator[Context]:
        principal = Principal(kind="user", id="usr_asker", tenant_id=tenant_id)
        async with Context(
            self.instance, principal, Caller(**{"correlation_id": "cor_test", **caller})
        ) as ctx:
            yield ctx

    async def ask(
        self,
        kind: Any,
        *names: str,
        tenant_id: str = "ten_a",
        correlation_id: str = "cor_test",
        **options: Any,
    ) -> None:
        async with self.context(tenant_id, correlation_id=correlation_id) as ctx:
            for name in names:
                ctx.defer(kind, Named(name=name), **options)

    def _system(self) -> SystemDb:
        unit = UnitOfWork(self.instance.database, reads_outside_transaction=True)
        return SystemDb(unit, self.instance.clock, self.instance.ring)

    async def marks(self) -> list[str]:
        return [mark.name for mark in await self._system().all(Mark, order_by=("created_at",))]

    async def notes(self) -> list[str]:
        return [mark.note for mark in await self._system().all(Mark, order_by=("created_at",))]

    async def jobs(self, **equal: Any) -> list[Job]:
        return await self._system().all(Job, order_by=("run_at",), **equal)

    async def events(self) -> list[EventEntry]:
        return await self._system().all(EventEntry, order_by=("created_at", "position"))

    async def change(self, sql: str, *arguments: Any) -> None:
        """Run raw SQL with `?` for arguments, which no part of the product would do."""
        database = self.instance.database
        if database.dialect == "postgresql":
            for number in range(1, len(arguments) + 1):
                sql = sql.replace("?", f"${number}", 1)
        connection = await database.begin()
        await connection.execute(sql, list(arguments))
        await database.commit(connection)


async def open_workshop(
    folder: Path, url: str, clock: Clock | None = None, manifest: Manifest = WORKSHOP
) -> Workshop:
    settings = Settings(
        data_dir=folder, base_url="http://127.0.0.1:8080", database_pool=5, **database_settings(url)
    )
    return Workshop(await open_instance(settings, clock or ManualClock(), (manifest,)))


@asynccontextmanager
async def workshop_on(
    databases: Any, folder: Path, clock: Clock | None = None, manifest: Manifest = WORKSHOP
) -> AsyncIterator[Workshop]:
    """A workshop on an empty database; what earlier tests left in this module is gone."""
    ran.clear()
    passed.clear()
    batches.clear()
    gates["gate"], gates["second gate"] = Gate(), Gate()
    workshop = await open_workshop(folder, await databases.fresh(folder), clock, manifest)
    database = workshop.instance.database
    await ddl(database, CreateTable(Mark.__table__))
    yield workshop
    for runner in workshop.runners:
        await runner.stop(grace_s=0)
    await ddl(database, DropTable(Mark.__table__))
    await close_instance(workshop.instance)


async def ddl(database: Database, statement: Any) -> None:
    connection = await database.begin()
    await connection.execute(str(statement.compile(dialect=DIALECTS[database.dialect])), [])
    await database.commit(connection)
