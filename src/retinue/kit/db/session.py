"""The doors into a unit of work: `Db` sees one tenant, `SystemDb` sees the instance."""

import functools
from collections.abc import Iterable
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec.structs import astuple
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Clock
from retinue.kit.crypto import KeyRing, Place, Sealed
from retinue.kit.db.errors import RecordGone
from retinue.kit.db.fence import TENANT, FenceRefused
from retinue.kit.db.models import Record
from retinue.kit.db.statements import Compiled, Statement, row_reader
from retinue.kit.db.types import json_text
from retinue.kit.db.unit import Unit
from retinue.kit.ids import new_id

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class SystemDb:
    """The whole instance, unfenced: for sign-in, start-up and the super administrator, with a reason."""

    narrow = False

    def __init__(self, unit: Unit, clock: Clock, ring: KeyRing, tenant_id: str | None = None) -> None:
        self._unit = unit
        self._clock = clock
        self._ring = ring
        self._tenant_id = tenant_id
        self._dialect = unit.database.dialect

    @property
    def dialect(self) -> str:
        return self._dialect

    def _given(self, compiled: Compiled, parameters: dict[str, Any]) -> list[Any]:
        if compiled.tenant_bound:
            if self._tenant_id is None:
                raise FenceRefused("no tenant to narrow to")
            parameters[TENANT] = self._tenant_id
        return compiled.arguments(parameters)

    async def rows(self, statement: Statement[T], **parameters: Any) -> list[T]:
        """Every row, as what the statement says its rows become."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        found = await self._unit.fetch(compiled, self._given(compiled, parameters), heavy=statement.heavy)
        to_value = statement.to_value
        if to_value is None:
            return found
        return [to_value(row) for row in found]

    async def first(self, statement: Statement[T], **parameters: Any) -> T | None:
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        found = await self._unit.fetch(compiled, self._given(compiled, parameters), heavy=statement.heavy)
        if not found:
            return None
        first: T = found[0] if statement.to_value is None else statement.to_value(found[0])
        return first

    async def scalar(self, statement: Statement[Any], **parameters: Any) -> Any:
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        found = await self._unit.fetch(compiled, self._given(compiled, parameters), heavy=statement.heavy)
        return found[0][0] if found else None

    async def execute(self, statement: Statement[Any], **parameters: Any) -> Any:
        """Change rows: their number, or the rows themselves where the statement returns some."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        result = await self._unit.change(compiled, self._given(compiled, parameters), self._tenant_id)
        if compiled.returns_rows and statement.to_value is not None:
            return [statement.to_value(row) for row in result]
        return result

    async def execute_many(self, statement: Statement[Any], many: Iterable[dict[str, Any]]) -> None:
        """The same change for each of these parameters."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        given = [self._given(compiled, dict(one)) for one in many]
        await self._unit.change_many(compiled, given, self._tenant_id)

    async def get(self, record: type[R], id: str) -> R | None:
        return await self.first(_find(record, ("id",), ()), id=id)

    async def find(self, record: type[R], **equal: Any) -> R | None:
        """The first record whose fields equal these."""
        return await self.first(_find(record, tuple(equal), ()), **equal)

    async def all(self, record: type[R], *, order_by: tuple[str, ...] = ("id",), **equal: Any) -> list[R]:
        """Every record whose fields equal these; `-name` sorts descending."""
        return await self.rows(_find(record, tuple(equal), order_by), **equal)

    async def count(self, record: type[Record], **equal: Any) -> int:
        return int(await self.scalar(_count(record, tuple(equal)), **equal))

    async def lock(self, record: type[R], id: str) -> R | None:
        """The record, held against other writers until this unit ends."""
        await self._unit.begin()  # SQLite's lock is the transaction itself.
        return await self.first(_lock(record), id=id)

    async def insert(self, record: R) -> R:
        """Stamp the record with id, tenant and times, and store it."""
        await self._prepare(record)
        compiled = _compiled_insert(type(record), self._dialect)
        await self._unit.change(compiled, self._values(record), self._tenant_id)
        return record

    async def insert_at_commit(self, record: R) -> R:
        """Stamp the record now and store it last of all: nothing here sees it before.

        A unit that does nothing else is cheap: PostgreSQL gets it in one exchange if its parts have no table
        in common, and on SQLite units that wait at the same time share one sync to disk.
        """
        self._stamp(record)
        if record.__shape__.sealed:
            await self._ring.prepare()
        compiled = _compiled_insert(type(record), self._dialect)
        self._unit.change_at_commit(compiled, self._values(record), self._tenant_id)
        return record

    def execute_at_commit(self, statement: Statement[Any], *, shared: str = "", **parameters: Any) -> None:
        """Change rows last of all, where it does not matter how many there are."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        given = self._given(compiled, parameters)
        self._unit.change_at_commit(compiled, given, self._tenant_id, shared=shared)

    async def insert_missing(self, record: Record) -> bool:
        """Store the record unless one with the same key or unique value exists; whether it was stored."""
        await self._prepare(record)
        compiled = _insert_missing(type(record)).compiled(self._dialect, narrow=False)
        stored = await self._unit.change(compiled, self._values(record), self._tenant_id)
        return bool(stored)

    async def insert_many(self, records: Iterable[R]) -> None:
        stamped = list(records)
        if len(stamped) == 1:
            await self.insert(stamped[0])
        if len(stamped) < 2:
            return
        for record in stamped:
            await self._prepare(record)
        kind = type(stamped[0])
        compiled = _compiled_insert(kind, self._dialect)
        many = [self._values(record) for record in stamped]
        await self._unit.change_many(compiled, many, self._tenant_id)

    async def update(self, record: R, **changes: Any) -> R:
        """Change these fields of the record, here and in the database."""
        if not changes:
            return record
        names = (*changes, "updated_at")
        if record.__shape__.sealed:
            await self._ring.prepare()
        for name, value in changes.items():
            setattr(record, name, value)
        record.updated_at = self._clock.now()
        compiled = _update(type(record), names).compiled(self._dialect, narrow=self.narrow)
        given = dict(zip((f"new_{name}" for name in names), self._encoded(record, names), strict=True))
        parameters = self._given(compiled, {**given, "record_id": record.id})
        if not await self._unit.change(compiled, parameters, self._tenant_id):
            raise RecordGone
        return record

    async def delete(self, record: Record) -> None:
        compiled = _delete(type(record)).compiled(self._dialect, narrow=self.narrow)
        given = self._given(compiled, {"record_id": record.id})
        await self._unit.change(compiled, given, self._tenant_id)

    async def _prepare(self, record: Record) -> None:
        self._stamp(record)
        if record.__shape__.sealed:
            await self._ring.prepare()

    def _stamp(self, record: Record) -> None:
        if not record.id:
            record.id = new_id(record.__prefix__)
        if not record.created_at:
            record.created_at = self._clock.now()
        record.updated_at = record.created_at
        if self.narrow and record.__shape__.tenant_owned:
            owner = getattr(record, "tenant_id", "")
            if owner and owner != self._tenant_id:
                raise FenceRefused("a record of another tenant cannot be stored here")
            record.tenant_id = self._tenant_id  # type: ignore[attr-defined]

    def _encoded(self, record: Record, names: tuple[str, ...]) -> list[Any]:
        """Plain values, sealing what must be sealed for exactly this place."""
        values = []
        for name in names:
            value = getattr(record, name)
            if isinstance(value, Sealed):
                place = Place(
                    tenant_id=getattr(record, "tenant_id", ""),
                    table=record.__table__.name,
                    record_id=record.id,
                    field=name,
                )
                value = value.ciphertext(self._ring, place)
            elif value is not None and name in record.__shape__.sealed:
                raise TypeError(f"{record.__table__.name}.{name} takes a Sealed value only")
            values.append(value)
        return values

    def _values(self, record: Record) -> list[Any]:
        """Every field as it is stored."""
        shape = record.__shape__
        values = self._encoded(record, shape.names) if shape.sealed else list(astuple(record))
        for position in shape.json_positions:
            if values[position] is not None:
                values[position] = json_text(values[position])
        return values


class Db(SystemDb):
    """One tenant's data: every statement is narrowed to it, every new row is stamped with it."""

    narrow = True

    def __init__(self, unit: Unit, clock: Clock, ring: KeyRing, tenant_id: str) -> None:
        super().__init__(unit, clock, ring, tenant_id)

    @property
    def tenant_id(self) -> str:
        assert self._tenant_id is not None
        return self._tenant_id


@functools.cache
def _find(record: type[R], equal: tuple[str, ...], order_by: tuple[str, ...]) -> Statement[R]:
    table = record.__table__
    source = sa.select(table).where(*_equalities(table, equal))
    for name in order_by:
        column = table.c[name.removeprefix("-")]
        source = source.order_by(column.desc() if name.startswith("-") else column)
    return Statement(source, row_reader(record))


@functools.cache
def _lock(record: type[R]) -> Statement[R]:
    table = record.__table__
    source = sa.select(table).where(*_equalities(table, ("id",))).with_for_update()
    return Statement(source, row_reader(record))


@functools.cache
def _count(record: type[Record], equal: tuple[str, ...]) -> Statement[Any]:
    table = record.__table__
    return Statement(sa.select(sa.func.count()).select_from(table).where(*_equalities(table, equal)))


def _equalities(table: sa.Table, names: tuple[str, ...]) -> list[Any]:
    return [table.c[name] == sa.bindparam(name, type_=table.c[name].type) for name in names]


@functools.cache
def _insert(record: type[Record]) -> Statement[Any]:
    return Statement(sa.insert(record.__table__))


@functools.cache
def _compiled_insert(record: type[Record], dialect: str) -> Compiled:
    return _insert(record).compiled(dialect, narrow=False)


@functools.cache
def _insert_missing(record: type[Record]) -> Statement[Any]:
    # Both dialects write the clause alike, so PostgreSQL's construct serves SQLite too.
    return Statement(postgresql.insert(record.__table__).on_conflict_do_nothing())


@functools.cache
def _update(record: type[Record], names: tuple[str, ...]) -> Statement[Any]:
    table = record.__table__
    values = {name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    return Statement(sa.update(table).where(table.c.id == sa.bindparam("record_id")).values(values))


@functools.cache
def _delete(record: type[Record]) -> Statement[Any]:
    table = record.__table__
    return Statement(sa.delete(table).where(table.c.id == sa.bindparam("record_id")))
