"""Periodic jobs: exactly one of many processes enqueues each run."""

from collections.abc import Iterable
from math import floor
from typing import Any

import sqlalchemy as sa

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import JobHandler, NoPayload
from retinue.kit.jobs.enqueue import enqueue, new_job
from retinue.kit.jobs.models import Schedule
from retinue.kit.principal import SYSTEM

_schedules = Schedule.__table__
_kind = _schedules.c.id == sa.bindparam("kind")


def _time(name: str) -> Any:
    return sa.bindparam(name, type_=sa.Double())


# A compare-and-set on `next_at`: only one process can fire the schedule.
_FIRE = Statement(
    sa.update(_schedules)
    .where(_kind, _schedules.c.next_at == _time("seen_at"))
    .values(
        next_at=_time("new_next_at"),
        last_at=sa.bindparam("fired_at", type_=_schedules.c.last_at.type),
        updated_at=sa.bindparam("fired_at", type_=_schedules.c.updated_at.type),
    )
)
_BRING_FORWARD = Statement(
    sa.update(_schedules).where(_kind, _schedules.c.next_at > _time("latest")).values(next_at=_time("latest"))
)
_NEXT = Statement(sa.select(_schedules.c.id, _schedules.c.next_at).order_by(_schedules.c.id))


class Schedules:
    """The periodic jobs of the manifests, with the next run of each as this process last read it."""

    def __init__(self, instance: Instance, handlers: Iterable[JobHandler[Any]]) -> None:
        self._instance = instance
        self._handlers = {handler.kind.name: handler for handler in handlers if handler.every_s}
        self._next: dict[str, float] = {}
        self._is_prepared = not self._handlers

    def _system(self, unit: UnitOfWork) -> SystemDb:
        return SystemDb(unit, self._instance.clock, self._instance.ring)

    @property
    def next_at(self) -> float:
        """The next run of any job; never too late, because other processes only move it forward."""
        if not self._is_prepared:
            return 0.0
        return min(self._next.values(), default=float("inf"))

    async def fire(self, unit: UnitOfWork, now: float) -> None:
        """Enqueue every due job once, even if it missed several runs."""
        system = self._system(unit)
        if not self._is_prepared:
            await self._prepare(system, now)
        for kind_name, next_at in await self._read(system):
            if next_at <= now:
                await self._fire_one(unit, self._handlers[kind_name], next_at, now)

    def forget(self) -> None:
        """Read all schedules again, because the transaction was rolled back."""
        self._is_prepared = not self._handlers

    async def _prepare(self, system: SystemDb, now: float) -> None:
        """Add new schedules, and bring those with a shorter interval forward."""
        for name, handler in self._handlers.items():
            latest = now + (handler.every_s or 0)
            await system.insert_missing(Schedule(id=name, next_at=latest))
            await system.execute(_BRING_FORWARD, kind=name, latest=latest)
        self._is_prepared = True

    async def _read(self, system: SystemDb) -> list[tuple[str, float]]:
        rows: list[Any] = await system.rows(_NEXT)
        declared = [(kind, next_at) for kind, next_at in rows if kind in self._handlers]
        self._next = dict(declared)
        return declared

    async def _fire_one(self, unit: UnitOfWork, handler: JobHandler[Any], seen_at: float, now: float) -> None:
        kind, interval = handler.kind, handler.every_s or 0
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
