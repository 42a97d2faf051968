"""One declaration per record: the typed record, its table and its id prefix."""

import enum
import typing
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.types import Json, column_type, strip_annotated, strip_optional
from retinue.kit.ids import lead_by_time

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Record(msgspec.Struct, kw_only=True):
    """A row of a table that belongs to the instance, not to one tenant."""

    __table__: ClassVar[sa.Table]
    __prefix__: ClassVar[str]
    __shape__: ClassVar["Shape"]

    id: str = ""
    created_at: Instant = ""
    updated_at: Instant = ""


class TenantRecord(Record, kw_only=True):
    """A row that belongs to a tenant; the fence narrows, stamps and refuses by `tenant_id`."""

    tenant_id: str = ""


class Ref:
    """A field that holds the id of another record; both rows then belong to the same tenant."""

    def __init__(self, to: type[Record], *, cascade: bool = False) -> None:
        self.to = to
        self.cascade = cascade


class Added:
    """A field that came to a table which was there before: what older programs store without knowing it."""

    def __init__(self, default: str) -> None:
        """In SQL."""
        self.default = default


class Field(msgspec.Struct, frozen=True):
    name: str
    optional: bool
    is_bool: bool
    is_sealed: bool
    is_enum: bool
    enum_type: Any
    json_decoder: Any


class Shape(msgspec.Struct, frozen=True):
    """What the data layer needs to know of a record, worked out once."""

    fields: tuple[Field, ...]
    names: tuple[str, ...]
    sealed: tuple[str, ...]
    json_positions: tuple[int, ...]
    tenant_owned: bool


R = TypeVar("R", bound=Record)

RECORDS: dict[str, type[Record]] = {}
CONFIGURING: set[str] = set()
"""The tables that hold what a tenant has set up."""


def table(
    name: str,
    *,
    prefix: str,
    unique: Iterable[tuple[str, ...]] = (),
    indexes: Iterable[tuple[str, ...]] = (),
    extra: Callable[[sa.Table], object] | None = None,
    led_by_time: bool = False,
    configures: bool = False,
) -> Callable[[type[R]], type[R]]:
    """Declare a record's table; `unique` and `indexes` list columns, `extra` adds unusual indexes.

    `led_by_time` is for rows that come in great numbers; see `kit.ids.lead_by_time`. `configures` is for
    what a tenant sets up and requests remember; see `kit.remembering`.
    """
    if led_by_time:
        lead_by_time(prefix)
    if configures:
        CONFIGURING.add(name)

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
        made = sa.Table(name, metadata, *columns, *constraints)
        if extra:
            extra(made)
        record.__table__ = made
        record.__prefix__ = prefix
        record.__shape__ = _shape(record, annotations)
        RECORDS[name] = record
        return record

    return declare


def unique_where(flag: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: at most one row with these values has its flag set."""
    return _index_where(flag, columns, unique=True)


def index_where(flag: str, *columns: str) -> Callable[[sa.Table], object]:
    """For `extra`: an index over the few rows that have their flag set."""
    return _index_where(flag, columns, unique=False)


def _index_where(flag: str, columns: tuple[str, ...], *, unique: bool) -> Callable[[sa.Table], object]:
    def declare(made: sa.Table) -> object:
        return sa.Index(
            f"{'uq' if unique else 'ix'}_{made.name}_{flag}",
            *(made.c[column] for column in columns),
            unique=unique,
            # Text, because a migration drafted on one database must say it in the words of both.
            sqlite_where=sa.text(f"{flag} = 1"),
            postgresql_where=sa.text(flag),
        )

    return declare


def _column(name: str, annotation: Any, *, key: tuple[str, ...]) -> tuple[sa.Column[Any], Ref | None]:
    plain, extras = strip_annotated(annotation)
    bare, optional = strip_optional(plain)
    inner, inner_extras = strip_annotated(bare)
    reference = next((extra for extra in (*extras, *inner_extras) if isinstance(extra, Ref)), None)
    added = next((extra for extra in extras if isinstance(extra, Added)), None)
    column = sa.Column(
        name,
        column_type(inner),
        nullable=optional,
        primary_key=name in key,
        server_default=None if added is None else sa.text(added.default),
    )
    return column, reference


def _foreign_key(name: str, reference: Ref, *, tenant_owned: bool) -> sa.ForeignKeyConstraint:
    """Composite with the tenant, so that a reference into another tenant cannot even be stored."""
    target = reference.to.__table__
    on_delete = "CASCADE" if reference.cascade else None
    if tenant_owned and "tenant_id" in target.c:
        return sa.ForeignKeyConstraint(
            ("tenant_id", name), (target.c.tenant_id, target.c.id), ondelete=on_delete
        )
    return sa.ForeignKeyConstraint((name,), (target.c.id,), ondelete=on_delete)


def _shape(record: type[Record], annotations: dict[str, Any]) -> Shape:
    fields = []
    for name in record.__struct_fields__:
        bare, optional = strip_optional(strip_annotated(annotations[name])[0])
        inner, _ = strip_annotated(bare)
        is_json = isinstance(record.__table__.c[name].type, Json)
        is_enum = isinstance(inner, type) and issubclass(inner, enum.Enum)
        fields.append(
            Field(
                name=name,
                optional=optional,
                is_bool=inner is bool,
                is_sealed=inner is Sealed,
                is_enum=is_enum,
                enum_type=inner if is_enum else None,
                json_decoder=msgspec.json.Decoder(inner).decode if is_json else None,
            )
        )
    return Shape(
        fields=tuple(fields),
        names=tuple(record.__struct_fields__),
        sealed=tuple(field.name for field in fields if field.is_sealed),
        json_positions=tuple(number for number, field in enumerate(fields) if field.json_decoder is not None),
        tenant_owned="tenant_id" in record.__struct_fields__,
    )
