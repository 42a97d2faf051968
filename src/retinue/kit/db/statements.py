"""Statements: built with SQLAlchemy, compiled once for each database, executed by the drivers themselves."""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.dialects.postgresql import asyncpg as asyncpg_dialect
from sqlalchemy.sql import visitors

from retinue.kit.db.fence import TENANT, fenced
from retinue.kit.db.models import CONFIGURING, Record
from retinue.kit.db.types import Json, json_text

DIALECTS: dict[str, sa.Dialect] = {
    "sqlite": sqlite_dialect.dialect(paramstyle="qmark"),
    "postgresql": asyncpg_dialect.dialect(),  # type: ignore[no-untyped-call]
}

T = TypeVar("T")


class Compiled(msgspec.Struct, frozen=True):
    """SQL of one dialect, with its parameters in their order."""

    sql: str
    pick: Callable[[dict[str, Any]], Iterable[Any]]
    """The values of its parameters, in their order."""
    defaults: dict[str, Any]
    encoders: tuple[tuple[int, Callable[[Any], Any]], ...]
    """What is done to the values at some positions."""
    returns_rows: bool
    tenant_bound: bool
    tables: frozenset[str] = frozenset()
    """Every table it reads or writes; none where that is not known."""
    only_adds: bool = False
    """Whether it does nothing but add a row, whatever else is there."""
    configures: bool = False
    """Whether it changes what a tenant has set up."""

    def arguments(self, given: dict[str, Any]) -> list[Any]:
        known = {**self.defaults, **given} if self.defaults else given
        try:
            values = list(self.pick(known))
        except KeyError as error:
            raise TypeError(f"parameter {error.args[0]} is not given") from None
        for position, encode in self.encoders:
            if values[position] is not None:
                values[position] = encode(values[position])
        return values


class Statement(Generic[T]):
    """A statement and what its rows become; keep one at module level where it runs often.

    `heavy` marks reads that may take long: on SQLite they run in a thread instead of on the event loop.
    """

    __slots__ = ("_compiled", "heavy", "source", "to_value")

    def __init__(
        self, source: Any, to_value: Callable[[Any], T] | None = None, *, heavy: bool = False
    ) -> None:
        self.source = source
        self.to_value = to_value
        self.heavy = heavy
        self._compiled: dict[tuple[str, bool], Compiled] = {}

    def compiled(self, dialect: str, *, narrow: bool) -> Compiled:
        found = self._compiled.get((dialect, narrow))
        if found is None:
            found = _compile(fenced(self.source) if narrow else self.source, DIALECTS[dialect])
            self._compiled[dialect, narrow] = found
        return found


def _compile(statement: Any, dialect: sa.Dialect) -> Compiled:
    made = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    order = tuple(made.positiontup or ())
    binds = [made.binds[name] for name in order]
    returns_rows = isinstance(statement, sa.sql.selectable.SelectBase) or bool(
        getattr(statement, "_returning", ())
    )
    return Compiled(
        sql=str(made),
        pick=_picker(order),
        defaults={
            name: bind.effective_value for name, bind in zip(order, binds, strict=True) if not bind.required
        },
        encoders=tuple((at, json_text) for at, bind in enumerate(binds) if isinstance(bind.type, Json)),
        returns_rows=returns_rows,
        tenant_bound=TENANT in order,
        tables=_tables(statement),
        only_adds=_only_adds(statement),
        configures=_configures(statement),
    )


def _picker(names: tuple[str, ...]) -> Callable[[dict[str, Any]], Iterable[Any]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda given: [given[name] for name in names]


def _tables(statement: Any) -> frozenset[str]:
    elements = list(visitors.iterate(statement))
    if any(isinstance(element, sa.TextClause) for element in elements):
        return frozenset()
    return frozenset(element.name for element in elements if isinstance(element, sa.Table))


def _configures(statement: Any) -> bool:
    return isinstance(statement, sa.UpdateBase) and getattr(statement.table, "name", "") in CONFIGURING


def _only_adds(statement: Any) -> bool:
    if not isinstance(statement, sa.Insert) or statement._post_values_clause is not None:  # noqa: SLF001  SQLAlchemy shows it nowhere else
        return False
    return not any(isinstance(part, sa.sql.selectable.SelectBase) for part in visitors.iterate(statement))


R = TypeVar("R", bound=Record)


def reading(record: type[R], source: Any, *, heavy: bool = False) -> "Statement[R]":
    """A statement whose rows are whole records: `source` selects exactly the record's columns."""
    return Statement(source, row_reader(record), heavy=heavy)


_readers: dict[type[Record], Callable[[Any], Any]] = {}


def row_reader(record: type[R]) -> Callable[[Any], R]:
    found = _readers.get(record)
    if found is None:
        found = _readers[record] = _make_reader(record)
    return found


def _make_reader(record: type[R]) -> Callable[[Any], R]:
    """Turns a row, in the order of the record's fields, into the record."""
    from retinue.kit.crypto import Place, Sealed

    shape = record.__shape__
    names = shape.names
    table_name = record.__table__.name
    bools = tuple(f.name for f in shape.fields if f.is_bool)
    enums = tuple((f.name, f.enum_type) for f in shape.fields if f.is_enum)
    decoders = tuple((f.name, f.json_decoder) for f in shape.fields if f.json_decoder is not None)
    sealed = shape.sealed

    def read(row: Any) -> R:
        values = dict(zip(names, row, strict=True))
        for name in bools:
            if values[name] is not None:
                values[name] = bool(values[name])
        for name, enum_type in enums:
            if values[name] is not None:
                values[name] = enum_type(values[name])
        for name, decode in decoders:
            if values[name] is not None:
                values[name] = decode(values[name])
        for name in sealed:
            if values[name] is not None:
                place = Place(
                    tenant_id=values.get("tenant_id", ""),
                    table=table_name,
                    record_id=values["id"],
                    field=name,
                )
                values[name] = Sealed.stored(values[name], place)
        return record(**values)

    return read
