"""Periodic jobs: of many processes exactly one enqueues each run."""

from math import floor
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.ids import new_id
from retinue.kit.instance import Instance
from retinue.kit.jobs.declare import JobKind, NoPayload
from retinue.kit.jobs.enqueue import enqueue, new_job
from retinue.kit.jobs.models import Schedule
from retinue.kit.principal import SYSTEM

_schedules = Schedule.__table__
_kind = _schedules.c.id == sa.bindparam("kind")


def _time(name: str) -> Any:
    return sa.bindparam(name, type_=sa.Double())


# Whoever moves `next_at` from the value all have seen has fired the schedule; nobody else can.
_FIRE: Statement[Any] = Statement(
    sa.update(_schedules)
    .where(_kind, _schedules.c.next_at == _time("seen_at"))
    .values(
        next_at=_time("new_next_at"),
        last_at=sa.bindparam("fired_at", type_=_schedules.c.last_at.type),
        updated_at=sa.bindparam("fired_at", type_=_schedules.c.updated_at.type),
    )
)
_BRING_FORWARD: Statement[Any] = Statement(
    sa.update(_schedules).where(_kind, _schedules.c.next_at > _time("latest")).values(next_at=_time("latest"))
)
_NEXT: Statement[Any] = Statement(sa.select(_schedules.c.id, _schedules.c.next_at).order_by(_schedules.c.id))


class Schedules:
    """The periodic jobs of the manifests, and when each is next due as far as this process knows."""

    def __init__(self, instance: Instance, kinds: list[JobKind[Any]]) -> None:
        self._instance = instance
        self._kinds = {kind.name: kind for kind in kinds if kind.every_s}
        self._next: dict[str, float] = {}
        self._is_prepared = not self._kinds

    def _system(self, unit: Unit) -> SystemDb:
        return SystemDb(unit, self._instance.clock, self._instance.ring)

    @property
    def next_at(self) -> float:
        """Never later than the truth, because others only move it forward."""
        if not self._is_prepared:
            return 0.0
        return min(self._next.values(), default=float("inf"))

    async def fire(self, unit: Unit, now: float) -> None:
        """Enqueue every job whose time has come, once however often it was missed."""
        system = self._system(unit)
        if not self._is_prepared:
            await self._prepare(system, now)
        for kind_name, next_at in await self._read(system):
            if next_at <= now:
                await self._fire_one(unit, self._kinds[kind_name], next_at, now)

    def forget(self) -> None:
        """The transaction was rolled back: look at everything again."""
        self._is_prepared = not self._kinds

    async def _prepare(self, system: SystemDb, now: float) -> None:
        """A new schedule begins an interval from now; one whose interval shrank is brought forward."""
        for kind in self._kinds.values():
            latest = now + (kind.every_s or 0)
            await system.insert_missing(Schedule(id=kind.name, next_at=latest))
            await system.execute(_BRING_FORWARD, kind=kind.name, latest=latest)
        self._is_prepared = True

    async def _read(self, system: SystemDb) -> list[tuple[str, float]]:
        rows: list[Any] = await system.rows(_NEXT)
        known = [(kind, next_at) for kind, next_at in rows if kind in self._kinds]
        self._next = dict(known)
        return known

    async def _fire_one(self, unit: Unit, kind: JobKind[Any], seen_at: float, now: float) -> None:
        interval = kind.every_s or 0
        next_at = seen_at + interval * (floor((now - seen_at) / interval) + 1)
        clock = self._instance.clock
        won = await self._system(unit).execute(
            _FIRE, kind=kind.name, seen_at=seen_at, new_next_at=next_at, fired_at=clock.now()
        )
        self._next[kind.name] = next_at
        if not won:
            return
        # The key keeps runs from piling up behind one that takes longer than the interval.
        run = new_job(
            kind,
            NoPayload(),
            now=clock.time(),
            tenant_id="",
            correlation_id=new_id("cor"),
            hops=0,
            actor={"type": SYSTEM.kind, "id": SYSTEM.id},
            dedupe_key=f"schedule:{kind.name}",
        )
        await enqueue(unit, clock, [run])
