"""Writing down what came of jobs, many at once, in the transaction that ends them."""

from collections import defaultdict
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.db.unit import Unit
from retinue.kit.events.routing import Routing
from retinue.kit.instance import Instance
from retinue.kit.jobs.declare import Concluded, JobKind
from retinue.kit.jobs.enqueue import enqueue
from retinue.kit.jobs.queue import Outcome

# Whoever lost a lease concludes nothing: another worker runs the job again, and that is the one that counts.
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
    def __init__(self, instance: Instance, worker: str, kinds: dict[str, JobKind[Any]]) -> None:
        self._instance = instance
        self._worker = worker
        self._kinds = {
            name: (kind.conclude, msgspec.json.Decoder(kind.payload).decode)
            for name, kind in kinds.items()
            if kind.conclude is not None
        }
        self._still_ours = _still_ours(instance.database.dialect)

    async def conclude(self, unit: Unit, outcomes: list[Outcome]) -> bool:
        """Before the jobs are removed or postponed, in the same transaction; whether other jobs follow."""
        mine = [one for one in outcomes if one.counts and one.job.kind in self._kinds]
        if not mine:
            return False
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        held = json_text([[one.job.tenant_id, one.job.id, one.job.attempt] for one in mine])
        ours = {id for (id,) in await system.rows(self._still_ours, held=held, worker=self._worker)}
        by_kind: defaultdict[str, list[Concluded]] = defaultdict(list)
        for one in mine:
            if one.job.id in ours:
                by_kind[one.job.kind].append(self._concluded(one))
        routing = Routing(self._instance, system)
        for name, concluded in by_kind.items():
            await self._kinds[name][0](routing, concluded)
        await enqueue(unit, self._instance.clock, routing.jobs)
        return bool(routing.jobs)

    def _concluded(self, outcome: Outcome) -> Concluded:
        job = outcome.job
        return Concluded(
            job_id=job.id,
            tenant_id=job.tenant_id,
            correlation_id=job.correlation_id,
            hops=job.hops,
            actor=msgspec.json.decode(job.actor),
            payload=self._kinds[job.kind][1](job.payload),
            result=outcome.result,
            error=outcome.error,
            state=outcome.state,
            next_at=self._instance.clock.time() + outcome.delay_s if outcome.state == "ready" else None,
        )
