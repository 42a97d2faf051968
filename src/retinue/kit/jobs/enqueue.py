"""Storage of jobs in the transaction that enqueues them."""

import functools
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Clock
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.ids import new_id
from retinue.kit.jobs.database_clock import DATABASE_NOW, uses_database_clock
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.models import Job

P = TypeVar("P", bound=msgspec.Struct)


def new_job(
    kind: JobKind[P],
    payload: P,
    *,
    now: float,
    tenant_id: str,
    correlation_id: str,
    hops: int,
    actor: dict[str, str],
    lineage: str = "",
    trace_parent: str = "",
    delay_s: float | None = None,
    dedupe_key: str | None = None,
    priority: int = 0,
    lane: str = "",
) -> Job:
    return Job(
        id=new_id(Job.__prefix__),
        tenant_id=tenant_id,
        kind=kind.name,
        queue=kind.queue,
        payload=msgspec.to_builtins(payload),
        priority=priority,
        lane=lane,
        run_at=now + (kind.retry.delays[0] if delay_s is None else delay_s),
        dedupe_key=dedupe_key,
        correlation_id=correlation_id,
        hops=hops,
        lineage=lineage,
        trace_parent=trace_parent,
        actor=actor,
    )


async def enqueue(unit: UnitOfWork, clock: Clock, jobs: Sequence[Job]) -> None:
    """Store the jobs in this order; one whose `dedupe_key` is taken is left out.

    `run_at` is a time of the instance's clock. If the database's clock decides, its offset from now is used.
    """
    if not jobs:
        return
    dialect = unit.database.dialect
    by_database = uses_database_clock(dialect, clock)
    compiled = _insert(by_database).compiled(dialect, narrow=False)
    origin = clock.time() if by_database else 0.0
    stored_at = clock.now()
    rows = []
    for job in jobs:
        job.created_at = job.updated_at = stored_at
        rows.append(compiled.arguments({**msgspec.structs.asdict(job), "offset": job.run_at - origin}))
    await unit.change_many(compiled, rows)


@functools.cache
def _insert(by_database: bool) -> Statement[Any]:
    table = Job.__table__
    run_at = f"{DATABASE_NOW} + :offset" if by_database else ":offset"
    names = Job.__struct_fields__
    values = ", ".join(run_at if name == "run_at" else f":{name}" for name in names)
    text = f"INSERT INTO jobs ({', '.join(names)}) VALUES ({values}) ON CONFLICT DO NOTHING"  # noqa: S608  our own names
    binds = [sa.bindparam(name, type_=table.c[name].type) for name in names if name != "run_at"]
    return Statement(sa.text(text).bindparams(*binds, sa.bindparam("offset", type_=sa.Double())))
