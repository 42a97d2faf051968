"""Declarations of records: the typed record, its table and its id prefix."""

import enum
import typing
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.types import Json, column_type, strip_annotated, strip_optional
from retinue.kit.ids import use_time_ordered_ids
from retinue.kit.schema.derived import without_constraints

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Record(msgspec.Struct, kw_only=True):
    """A row that belongs to the instance, not to a tenant."""

    __table__: ClassVar[sa.Table]
    __prefix__: ClassVar[str]
    __shape__: ClassVar["RecordShape"]
    __untagged__: ClassVar[frozenset[str]] = frozenset()
    """Fields that the product itself updates; see `kit.db.entity_tags`."""

    id: str = ""
    created_at: Instant = ""
    updated_at: Instant = ""

    @property
    def stamped_tenant_id(self) -> str | None:
        """The tenant whose stamp a change of the row raises; None means every tenant's."""
        return None


class TenantRecord(Record, kw_only=True):
    """A row that belongs to a tenant; the fence acts on `tenant_id`."""

    tenant_id: str = ""

    @property
    def stamped_tenant_id(self) -> str | None:
        return self.tenant_id or None


class Ref:
    """Marks a field with the id of another record, which must belong to the same tenant."""

    def __init__(self, to: type[Record], *, cascade: bool = False) -> None:
        self.to = to
        self.cascade = cascade


class ServerDefault:
    """The SQL default of a field added to an existing table, for rows written by older releases."""

    def __init__(self, default: str) -> None:
        self.default = default


class RecordField(msgspec.Struct, frozen=True):
    name: str
    optional: bool
    is_bool: bool
    is_sealed: bool
    is_enum: bool
    enum_type: Any
    json_decoder: Any


class RecordShape(msgspec.Struct, frozen=True):
    """Derived facts about a record, computed once for the data layer."""

    fields: tuple[RecordField, ...]
    names: tuple[str, ...]
    sealed: tuple[str, ...]
    json_positions: tuple[int, ...]
    tenant_owned: bool


R = TypeVar("R", bound=Record)

RECORDS: dict[str, type[Record]] = {}
CONFIGURATION_TABLES: set[str] = set()
"""The tables that hold tenant configuration."""
IDENTITY_COLUMNS: dict[str, frozenset[str]] = {}
"""The columns, by table, on which it depends who a caller is and what the caller may do."""


def table(
    name: str,
    *,
    prefix: str,
    unique: Iterable[tuple[str, ...]] = (),
    indexes: Iterable[tuple[str, ...]] = (),
    extra: Callable[[sa.Table], object] | None = None,
    time_ordered_ids: bool = False,
    is_configuration: bool = False,
    identity_columns: Iterable[str] = (),
) -> Callable[[type[R]], type[R]]:
    """Declare a record's table; `unique` and `indexes` list columns, `extra` adds unusual indexes.

    Use `time_ordered_ids` for tables with many inserts (`kit.ids.use_time_ordered_ids`), and
    `is_configuration` for tenant configuration that requests cache (`kit.config_cache`). Principals are
    cached under the same stamp: `identity_columns` are those of the table that make one.
    """
    if time_ordered_ids:
        use_time_ordered_ids(prefix)
    if is_configuration:
        CONFIGURATION_TABLES.add(name)
    if identity_columns:
        IDENTITY_COLUMNS[name] = frozenset(identity_columns)

    def declare(record: type[R]) -> type[R]:
        annotations = typing.get_type_hints(record, include_extras=True)
        names = record.__struct_fields__
        tenant_owned = "tenant_id" in names
        key = ("tenant_id", "id") if tenant_owned else ("id",)
        columns: list[Any] = []
        constraints: list[Any] = []
        for field_name in names:
            column, reference = _column(field_name, annotations[field_name], key=key)
            columns.append(column)
            if reference:
                constraints.append(_foreign_key(field_name, reference, tenant_owned=tenant_owned))
        constraints += [sa.UniqueConstraint(*columns_of) for columns_of in unique]
        constraints += [sa.Index(None, *columns_of) for columns_of in indexes]
        record_table = sa.Table(name, metadata, *columns, *constraints)
        if extra:
            extra(record_table)
        record.__table__ = record_table
        record.__prefix__ = prefix
        record.__shape__ = _shape(record, annotations)
        RECORDS[name] = record
        return record

    return declare


def projection(source: type[Record]) -> Callable[[type[R]], type[R]]:
    """Declare a record with some of the columns of another record's table, for lists that need no more."""

    def declare(record: type[R]) -> type[R]:
        record.__table__ = source.__table__
        record.__prefix__ = source.__prefix__
        record.__shape__ = _shape(record, typing.get_type_hints(record, include_extras=True))
        return record

    return declare


def unique_where(flag: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: allow at most one row with these values and the flag set."""
    return _index_where(flag, columns, unique=True)


def index_where(flag: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: index only the rows with the flag set."""
    return _index_where(flag, columns, unique=False)


def index_present(column: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: index only the rows that have a value in the column."""
    return _index_of(f"{column}_present", f"{column} IS NOT NULL", columns)


def index_equal(column: str, value: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: index only the rows with this value in a text column."""
    return _index_of(value, f"{column} = '{value}'", columns)


def index_nonzero(column: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: index only the rows with another number than 0 in the column."""
    return _index_of(f"{column}_nonzero", f"{column} <> 0", columns)


def _index_of(name: str, condition: str, columns: tuple[str, ...]) -> Callable[[sa.Table], object]:
    def declare(target: sa.Table) -> object:
        # As text, because a migration drafted on one database must contain the SQL of both.
        chosen = sa.text(condition)
        return sa.Index(
            f"ix_{target.name}_{name}",
            *(target.c[column] for column in columns),
            sqlite_where=chosen,
            postgresql_where=chosen,
        )

    return declare


def _index_where(flag: str, columns: tuple[str, ...], *, unique: bool) -> Callable[[sa.Table], object]:
    def declare(target: sa.Table) -> object:
        return sa.Index(
            f"{'uq' if unique else 'ix'}_{target.name}_{flag}",
            *(target.c[column] for column in columns),
            unique=unique,
            # As text, because a migration drafted on one database must contain the SQL of both.
            sqlite_where=sa.text(f"{flag} = 1"),
            postgresql_where=sa.text(flag),
        )

    return declare


def _column(name: str, annotation: object, *, key: tuple[str, ...]) -> tuple[sa.Column[Any], Ref | None]:
    plain, extras = strip_annotated(annotation)
    bare, optional = strip_optional(plain)
    inner, inner_extras = strip_annotated(bare)
    reference = next((extra for extra in (*extras, *inner_extras) if isinstance(extra, Ref)), None)
    default = next((extra for extra in extras if isinstance(extra, ServerDefault)), None)
    column = sa.Column(
        name,
        column_type(inner),
        nullable=optional,
        primary_key=name in key,
        server_default=None if default is None else sa.text(default.default),
    )
    return column, reference


def _foreign_key(name: str, reference: Ref, *, tenant_owned: bool) -> sa.ForeignKeyConstraint:
    """Include the tenant in the key, so that a reference to another tenant cannot be stored."""
    target = reference.to.__table__
    on_delete = "CASCADE" if reference.cascade else None
    if tenant_owned and "tenant_id" in target.c:
        return sa.ForeignKeyConstraint(
            ("tenant_id", name), (target.c.tenant_id, target.c.id), ondelete=on_delete
        )
    return sa.ForeignKeyConstraint((name,), (target.c.id,), ondelete=on_delete)


def _shape(record: type[Record], annotations: dict[str, Any]) -> RecordShape:
    fields = []
    for name in record.__struct_fields__:
        bare, optional = strip_optional(strip_annotated(annotations[name])[0])
        inner, _ = strip_annotated(bare)
        is_json = isinstance(record.__table__.c[name].type, Json)
        is_enum = isinstance(inner, type) and issubclass(inner, enum.Enum)
        fields.append(
            RecordField(
                name=name,
                optional=optional,
                is_bool=inner is bool,
                is_sealed=inner is Sealed,
                is_enum=is_enum,
                enum_type=inner if is_enum else None,
                json_decoder=msgspec.json.Decoder(without_constraints(inner)).decode if is_json else None,
            )
        )
    return RecordShape(
        fields=tuple(fields),
        names=tuple(record.__struct_fields__),
        sealed=tuple(field.name for field in fields if field.is_sealed),
        json_positions=tuple(number for number, field in enumerate(fields) if field.json_decoder is not None),
        tenant_owned="tenant_id" in record.__struct_fields__,
    )
