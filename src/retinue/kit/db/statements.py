"""Statements, built with SQLAlchemy, compiled once per database and executed by the driver (ADR 2)."""

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, Generic, TypeVar, overload

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.dialects.postgresql import asyncpg as asyncpg_dialect
from sqlalchemy.sql import visitors

from retinue.kit.crypto import Sealed, SealLocation
from retinue.kit.db.engine import Arguments, Row
from retinue.kit.db.fence import TENANT_PARAMETER, narrow_to_tenant
from retinue.kit.db.models import CONFIGURATION_TABLES, IDENTITY_COLUMNS, RECORDS, Record
from retinue.kit.db.types import Json, json_text

DIALECTS: dict[str, sa.Dialect] = {
    "sqlite": sqlite_dialect.dialect(paramstyle="qmark"),
    "postgresql": asyncpg_dialect.dialect(),  # type: ignore[no-untyped-call]
}

T_co = TypeVar("T_co", covariant=True)


class CompiledStatement(msgspec.Struct, frozen=True):
    """The SQL of a statement in one dialect, with its positional parameters."""

    sql: str
    pick: Callable[[dict[str, Any]], Iterable[Any]]
    """Returns the values of the parameters by position."""
    defaults: dict[str, Any]
    encoders: tuple[tuple[int, Callable[[Any], Any]], ...]
    """Conversions of values, by position."""
    returns_rows: bool
    tenant_bound: bool
    tables: frozenset[str] = frozenset()
    """Every table it reads or writes; empty if unknown."""
    depends_on: frozenset[str] = frozenset()
    """Those tables and, for a change, the ones that its rows refer to; empty if unknown."""
    is_plain_insert: bool = False
    """True if it only inserts rows and depends on no existing ones."""
    raises_stamp: bool = False
    """True if it changes a tenant's configuration, or who a caller is and what the caller may do."""
    reads_configuration_only: bool = False
    """True if what it reads cannot change without the stamp."""

    def arguments(self, overrides: dict[str, Any]) -> Arguments:
        parameters = {**self.defaults, **overrides} if self.defaults else overrides
        try:
            values = list(self.pick(parameters))
        except KeyError as error:
            raise TypeError(f"parameter {error.args[0]} is missing") from None
        for position, encode in self.encoders:
            if values[position] is not None:
                values[position] = encode(values[position])
        return values


class Statement(Generic[T_co]):
    """A statement and the conversion of its rows; keep one that runs often at module level.

    `heavy` marks reads that may take long; on SQLite they run in a thread instead of on the event loop. One
    that `removes_expired` rows changes nothing that is cached: nobody trusts them after their end.
    """

    __slots__ = ("_compiled", "heavy", "removes_expired", "source", "to_value")

    @overload
    def __init__(
        self: "Statement[Row]", source: object, *, heavy: bool = False, removes_expired: bool = False
    ) -> None: ...

    @overload
    def __init__(self, source: object, to_value: Callable[[Row], T_co], *, heavy: bool = False) -> None: ...

    def __init__(
        self,
        source: object,
        to_value: Callable[[Row], T_co] | None = None,
        *,
        heavy: bool = False,
        removes_expired: bool = False,
    ) -> None:
        self.source = source
        self.to_value = to_value
        self.heavy = heavy
        self.removes_expired = removes_expired
        self._compiled: dict[tuple[str, bool], CompiledStatement] = {}

    def compiled(self, dialect: str, *, narrow: bool) -> CompiledStatement:
        compiled = self._compiled.get((dialect, narrow))
        if compiled is None:
            compiled = _compile(narrow_to_tenant(self.source) if narrow else self.source, DIALECTS[dialect])
            if self.removes_expired:
                compiled = msgspec.structs.replace(compiled, raises_stamp=False)
            self._compiled[dialect, narrow] = compiled
        return compiled


def _compile(statement: Any, dialect: sa.Dialect) -> CompiledStatement:
    compiled = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    order = tuple(compiled.positiontup or ())
    tables = _tables(statement)
    binds = [compiled.binds[name] for name in order]
    returns_rows = isinstance(statement, sa.sql.selectable.SelectBase) or bool(
        getattr(statement, "_returning", ())
    )
    return CompiledStatement(
        sql=str(compiled),
        pick=_picker(order),
        defaults={
            name: bind.effective_value for name, bind in zip(order, binds, strict=True) if not bind.required
        },
        encoders=tuple((at, json_text) for at, bind in enumerate(binds) if isinstance(bind.type, Json)),
        returns_rows=returns_rows,
        tenant_bound=TENANT_PARAMETER in order,
        tables=frozenset(table.name for table in tables),
        depends_on=frozenset(table.name for table in tables | _referenced(statement, tables)),
        is_plain_insert=_is_plain_insert(statement),
        raises_stamp=_raises_stamp(statement),
        reads_configuration_only=bool(tables)
        and all(_is_plain_configuration(table.name) for table in tables),
    )


def _picker(names: tuple[str, ...]) -> Callable[[dict[str, Any]], Iterable[Any]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda given: [given[name] for name in names]


def _tables(statement: Any) -> set[sa.Table]:
    elements = list(visitors.iterate(statement))
    if any(isinstance(element, sa.TextClause) for element in elements):
        return set()
    return {element for element in elements if isinstance(element, sa.Table)}


def _referenced(statement: Any, tables: Iterable[sa.Table]) -> set[sa.Table]:
    if not isinstance(statement, sa.UpdateBase):
        return set()
    return {reference.column.table for table in tables for reference in table.foreign_keys}


def _raises_stamp(statement: object) -> bool:
    if not isinstance(statement, sa.UpdateBase):
        return False
    name = getattr(statement.table, "name", "")
    if name in CONFIGURATION_TABLES:
        return True
    if name not in IDENTITY_COLUMNS:
        return False
    if isinstance(statement, sa.Update):
        changed = _changed_columns(statement)
        return not changed or not IDENTITY_COLUMNS[name].isdisjoint(changed)
    # A new row is nobody whom a process knows already.
    return not _is_plain_insert(statement)


def _changed_columns(statement: sa.Update) -> set[str]:
    """Return the columns that the statement sets; none if it does not say."""
    values: Mapping[Any, Any] = statement._values or {}  # noqa: SLF001  no public accessor
    return {column if isinstance(column, str) else column.name for column in values}


def _is_plain_configuration(table_name: str) -> bool:
    """Return whether every column of the table is configuration; counters of the product are not."""
    return table_name in CONFIGURATION_TABLES and not RECORDS[table_name].__untagged__


def _is_plain_insert(statement: object) -> bool:
    if not isinstance(statement, sa.Insert) or statement._post_values_clause is not None:  # noqa: SLF001  no public accessor
        return False
    return not any(isinstance(part, sa.sql.selectable.SelectBase) for part in visitors.iterate(statement))


R = TypeVar("R", bound=Record)


def record_statement(record: type[R], source: object, *, heavy: bool = False) -> "Statement[R]":
    """Return a statement whose rows become records; `source` must select exactly the record's columns."""
    return Statement(source, row_reader(record), heavy=heavy)


_readers: dict[type[Record], Callable[[Any], Any]] = {}


def row_reader(record: type[R]) -> Callable[[Row], R]:
    reader = _readers.get(record)
    if reader is None:
        reader = _readers[record] = _make_reader(record)
    return reader


def _make_reader(record: type[R]) -> Callable[[Row], R]:
    """Return a function that converts a row, in the order of the record's fields, to the record."""
    shape = record.__shape__
    names = shape.names
    table_name = record.__table__.name
    bools = tuple(f.name for f in shape.fields if f.is_bool)
    # By a table: calling an enum takes three times as long, and every row of a list does it.
    enums = tuple(
        (f.name, {member.value: member for member in f.enum_type}) for f in shape.fields if f.is_enum
    )
    decoders = tuple((f.name, f.json_decoder) for f in shape.fields if f.json_decoder is not None)
    sealed = shape.sealed

    def read(row: Row) -> R:
        values = dict(zip(names, row, strict=True))
        for name in bools:
            if values[name] is not None:
                values[name] = bool(values[name])
        for name, members in enums:
            if values[name] is not None:
                values[name] = members[values[name]]
        for name, decode in decoders:
            if values[name] is not None:
                values[name] = decode(values[name])
        for name in sealed:
            if values[name] is not None:
                location = SealLocation(
                    tenant_id=values.get("tenant_id", ""),
                    table=table_name,
                    record_id=values["id"],
                    field=name,
                )
                values[name] = Sealed.stored(values[name], location)
        return record(**values)

    return read
