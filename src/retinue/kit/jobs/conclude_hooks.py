"""Calls of `conclude` hooks, with many attempts at once, in the transaction that ends the jobs."""

from collections import defaultdict
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.routing import WorkerTransaction
from retinue.kit.jobs.declare import AttemptResult, JobHandler
from retinue.kit.jobs.enqueue import enqueue
from retinue.kit.jobs.queue import JobOutcome

# An attempt that lost its lease is not concluded: another worker runs the job again, and that attempt counts.
_STILL_OURS = """SELECT jobs.id FROM {elements} AS held
    JOIN jobs ON jobs.tenant_id = held.value ->> 0 AND jobs.id = held.value ->> 1
    AND jobs.attempt = CAST(held.value ->> 2 AS bigint)
    WHERE jobs.state = 'running' AND jobs.worker = :worker"""
_ELEMENTS = {
    "sqlite": "json_each(:held)",
    "postgresql": "jsonb_array_elements(CAST(:held AS jsonb))",
}


def _still_ours(dialect: str) -> Statement[Any]:
    source = _STILL_OURS.format(elements=_ELEMENTS[dialect])
    if dialect == "postgresql":
        source += " ORDER BY jobs.id FOR UPDATE OF jobs"
    return Statement(
        sa.text(source).bindparams(
            sa.bindparam("held", type_=sa.Text()), sa.bindparam("worker", type_=sa.Text())
        )
    )


class Concluder:
    def __init__(self, instance: Instance, worker: str, handlers: dict[str, JobHandler[Any]]) -> None:
        self._instance = instance
        self._worker = worker
        self._hooks = {
            name: (handler.conclude, msgspec.json.Decoder(handler.kind.payload).decode)
            for name, handler in handlers.items()
            if handler.conclude is not None
        }
        self._still_ours = _still_ours(instance.database.dialect)

    async def conclude(self, unit: UnitOfWork, outcomes: list[JobOutcome]) -> bool:
        """Call the hooks before the jobs are deleted or rescheduled; return whether they enqueued jobs."""
        mine = [one for one in outcomes if one.counts and one.job.kind in self._hooks]
        if not mine:
            return False
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        held = json_text([[one.job.tenant_id, one.job.id, one.job.attempt] for one in mine])
        ours = {id for (id,) in await system.rows(self._still_ours, held=held, worker=self._worker)}
        by_kind: defaultdict[str, list[AttemptResult]] = defaultdict(list)
        for one in mine:
            if one.job.id in ours:
                by_kind[one.job.kind].append(self._concluded(one))
        routing = WorkerTransaction(self._instance, system)
        for name, concluded in by_kind.items():
            await self._hooks[name][0](routing, concluded)
        await enqueue(unit, self._instance.clock, routing.jobs)
        return bool(routing.jobs)

    def _concluded(self, outcome: JobOutcome) -> AttemptResult:
        job = outcome.job
        return AttemptResult(
            job_id=job.id,
            tenant_id=job.tenant_id,
            correlation_id=job.correlation_id,
            hops=job.hops,
            lineage=job.lineage,
            trace_parent=job.trace_parent,
            actor=msgspec.json.decode(job.actor),
            payload=self._hooks[job.kind][1](job.payload),
            result=outcome.result,
            error=outcome.error,
            state=outcome.state,
            next_at=self._instance.clock.time() + outcome.delay_s if outcome.state == "ready" else None,
        )
