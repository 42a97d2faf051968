"""Access to a unit of work: `Db` sees one tenant, `SystemDb` the whole instance."""

import functools
from collections.abc import Iterable
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec.structs import astuple
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Clock
from retinue.kit.crypto import KeyRing, Sealed, SealLocation
from retinue.kit.db.entity_tags import entity_tag
from retinue.kit.db.errors import RecordGone
from retinue.kit.db.fence import TENANT_PARAMETER, FenceRefused
from retinue.kit.db.models import Record
from retinue.kit.db.statements import CompiledStatement, Statement, row_reader
from retinue.kit.db.types import json_text
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.errors import VersionConflict
from retinue.kit.ids import new_id

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class SystemDb:
    """Unfenced access to the whole instance, for sign-in, startup and the super administrator."""

    narrow = False

    def __init__(self, unit: UnitOfWork, clock: Clock, ring: KeyRing, tenant_id: str | None = None) -> None:
        self._unit = unit
        self._clock = clock
        self._ring = ring
        self._tenant_id = tenant_id
        self._dialect = unit.database.dialect

    @property
    def dialect(self) -> str:
        return self._dialect

    def _arguments(self, compiled: CompiledStatement, parameters: dict[str, Any]) -> list[Any]:
        if compiled.tenant_bound:
            if self._tenant_id is None:
                raise FenceRefused("no tenant to narrow to")
            parameters[TENANT_PARAMETER] = self._tenant_id
        return compiled.arguments(parameters)

    async def rows(self, statement: Statement[T], **parameters: Any) -> list[T]:
        """Return every row, converted by the statement."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        rows = await self._unit.fetch(compiled, self._arguments(compiled, parameters), heavy=statement.heavy)
        to_value = statement.to_value
        if to_value is None:
            return rows
        return [to_value(row) for row in rows]

    async def first(self, statement: Statement[T], **parameters: Any) -> T | None:
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        rows = await self._unit.fetch(compiled, self._arguments(compiled, parameters), heavy=statement.heavy)
        if not rows:
            return None
        first: T = rows[0] if statement.to_value is None else statement.to_value(rows[0])
        return first

    async def scalar(self, statement: Statement[object], **parameters: Any) -> Any:
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        rows = await self._unit.fetch(compiled, self._arguments(compiled, parameters), heavy=statement.heavy)
        return rows[0][0] if rows else None

    async def execute(self, statement: Statement[object], **parameters: Any) -> Any:
        """Change rows; return their number, or the rows if the statement returns them."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        result = await self._unit.change(compiled, self._arguments(compiled, parameters), self._tenant_id)
        if compiled.returns_rows and statement.to_value is not None:
            return [statement.to_value(row) for row in result]
        return result

    async def execute_many(self, statement: Statement[object], many: Iterable[dict[str, Any]]) -> None:
        """Run the statement once for each set of parameters."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        arguments = [self._arguments(compiled, dict(parameters)) for parameters in many]
        await self._unit.change_many(compiled, arguments, self._tenant_id)

    async def get(self, record: type[R], id: str) -> R | None:
        return await self.first(_find(record, ("id",), ()), id=id)

    async def find(self, record: type[R], **equal: Any) -> R | None:
        """Return the first record whose fields equal these; None if there is none."""
        return await self.first(_find(record, tuple(equal), ()), **equal)

    async def all(self, record: type[R], *, order_by: tuple[str, ...] = ("id",), **equal: Any) -> list[R]:
        """Return every record whose fields equal these; `-name` sorts descending."""
        return await self.rows(_find(record, tuple(equal), order_by), **equal)

    async def count(self, record: type[Record], **equal: Any) -> int:
        return int(await self.scalar(_count(record, tuple(equal)), **equal))

    async def lock(self, record: type[R], id: str) -> R | None:
        """Return the record, locked against other writers until the unit of work ends."""
        await self._unit.begin()  # on SQLite the transaction itself is the lock
        found = await self.first(_lock(record), id=id)
        if self._unit.expected:
            self._compare_version(record, id, found)
        return found

    def _compare_version(self, record: type[R], id: str, stored_record: R | None) -> None:
        """Check the expected version once; later changes by this unit of work are not conflicts."""
        expected = self._unit.expected.pop((record, id), None)
        if (
            expected is not None
            and stored_record is not None
            and entity_tag(stored_record) not in expected.tags
        ):
            raise VersionConflict(entity_tag(stored_record))

    async def check_expected_versions(self) -> None:
        """Check the expected versions of records that were not locked so far."""
        for record, id in tuple(self._unit.expected):
            await self.lock(record, id)

    async def insert(self, record: R) -> R:
        """Set the record's id, tenant and times, and store it."""
        await self._prepare(record)
        compiled = _compiled_insert(type(record), self._dialect)
        await self._unit.change(compiled, self._values(record), self._stamped_tenant(record))
        return record

    async def insert_at_commit(self, record: R) -> R:
        """Stamp the record now and store it at the commit, or before a statement that depends on it (ADR 10).

        A unit with only such writes is cheap: PostgreSQL needs one round trip if no two writes share a
        table, and on SQLite concurrent units share one sync to disk.
        """
        self._stamp(record)
        if record.__shape__.sealed:
            await self._ring.prepare()
        compiled = _compiled_insert(type(record), self._dialect)
        self._unit.change_at_commit(compiled, self._values(record), self._stamped_tenant(record))
        return record

    def execute_at_commit(self, statement: Statement[object], *, shared: str = "", **parameters: Any) -> None:
        """Change rows at the commit, or before a statement that depends on them; their number is unknown."""
        compiled = statement.compiled(self._dialect, narrow=self.narrow)
        arguments = self._arguments(compiled, parameters)
        self._unit.change_at_commit(compiled, arguments, self._tenant_id, shared=shared)

    async def insert_missing(self, record: Record) -> bool:
        """Store the record unless its key or a unique value exists; return whether it was stored."""
        await self._prepare(record)
        compiled = _insert_missing(type(record)).compiled(self._dialect, narrow=False)
        stored = await self._unit.change(compiled, self._values(record), self._stamped_tenant(record))
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
        """Change these fields of the record, in memory and in the database."""
        if not changes:
            return record
        if (type(record), record.id) in self._unit.expected:
            await self.lock(type(record), record.id)
        names = (*changes, "updated_at")
        if record.__shape__.sealed:
            await self._ring.prepare()
        for name, value in changes.items():
            setattr(record, name, value)
        record.updated_at = self._clock.now()
        compiled = _update(type(record), names).compiled(self._dialect, narrow=self.narrow)
        values = dict(zip((f"new_{name}" for name in names), self._encoded(record, names), strict=True))
        arguments = self._arguments(compiled, {**values, "record_id": record.id})
        if not await self._unit.change(compiled, arguments, self._stamped_tenant(record)):
            raise RecordGone
        return record

    async def delete(self, record: Record) -> None:
        if (type(record), record.id) in self._unit.expected:
            await self.lock(type(record), record.id)
        compiled = _delete(type(record)).compiled(self._dialect, narrow=self.narrow)
        arguments = self._arguments(compiled, {"record_id": record.id})
        await self._unit.change(compiled, arguments, self._stamped_tenant(record))

    def _stamped_tenant(self, record: Record) -> str | None:
        return self._tenant_id if self._tenant_id is not None else record.stamped_tenant_id

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
        """Return plain values; secrets are sealed for exactly this location."""
        values = []
        for name in names:
            value = getattr(record, name)
            if isinstance(value, Sealed):
                location = SealLocation(
                    tenant_id=getattr(record, "tenant_id", ""),
                    table=record.__table__.name,
                    record_id=record.id,
                    field=name,
                )
                value = value.ciphertext(self._ring, location)
            elif value is not None and name in record.__shape__.sealed:
                raise TypeError(f"{record.__table__.name}.{name} takes a Sealed value only")
            values.append(value)
        return values

    def _values(self, record: Record) -> list[Any]:
        """Return the stored form of every field."""
        shape = record.__shape__
        values = self._encoded(record, shape.names) if shape.sealed else list(astuple(record))
        for position in shape.json_positions:
            if values[position] is not None:
                values[position] = json_text(values[position])
        return values


class Db(SystemDb):
    """Access to one tenant: every statement is narrowed to it and every new row is stamped with it."""

    narrow = True

    def __init__(self, unit: UnitOfWork, clock: Clock, ring: KeyRing, tenant_id: str) -> None:
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
def _count(record: type[Record], equal: tuple[str, ...]) -> Statement[object]:
    table = record.__table__
    return Statement(sa.select(sa.func.count()).select_from(table).where(*_equalities(table, equal)))


def _equalities(table: sa.Table, names: tuple[str, ...]) -> list[Any]:
    return [table.c[name] == sa.bindparam(name, type_=table.c[name].type) for name in names]


@functools.cache
def _insert(record: type[Record]) -> Statement[object]:
    return Statement(sa.insert(record.__table__))


@functools.cache
def _compiled_insert(record: type[Record], dialect: str) -> CompiledStatement:
    return _insert(record).compiled(dialect, narrow=False)


@functools.cache
def _insert_missing(record: type[Record]) -> Statement[object]:
    # The clause is the same in both dialects, so PostgreSQL's construct works for SQLite too.
    return Statement(postgresql.insert(record.__table__).on_conflict_do_nothing())


@functools.cache
def _update(record: type[Record], names: tuple[str, ...]) -> Statement[object]:
    table = record.__table__
    values = {name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    return Statement(sa.update(table).where(table.c.id == sa.bindparam("record_id")).values(values))


@functools.cache
def _delete(record: type[Record]) -> Statement[object]:
    table = record.__table__
    return Statement(sa.delete(table).where(table.c.id == sa.bindparam("record_id")))
