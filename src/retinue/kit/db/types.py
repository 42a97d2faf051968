"""The mapping of record fields to columns, for both databases."""

import enum
import types
import typing
from typing import Any, Union, get_args, get_origin

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.crypto import Sealed


class Json(sa.types.TypeDecorator[Any]):
    """A JSON value, decoded to the field's type."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, field_type: object = Any) -> None:
        super().__init__()
        self.field_type = field_type

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        return dialect.type_descriptor(postgresql.JSONB() if dialect.name == "postgresql" else sa.Text())


class SealedColumn(sa.LargeBinary):
    """The ciphertext of a `Sealed` field."""


# Text sorts by bytes on both databases: instants and ids need no locale.
Text = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")

_PLAIN: dict[Any, Any] = {
    str: Text,
    int: sa.BigInteger(),
    float: sa.Double(),
    bool: sa.Boolean(),
    bytes: sa.LargeBinary(),
    Sealed: SealedColumn(),
}


def strip_annotated(annotation: object) -> tuple[Any, tuple[Any, ...]]:
    if get_origin(annotation) is typing.Annotated:
        inner, *extras = get_args(annotation)
        return inner, tuple(extras)
    return annotation, ()


def strip_optional(annotation: object) -> tuple[Any, bool]:
    if get_origin(annotation) in {Union, types.UnionType}:
        rest = [arm for arm in get_args(annotation) if arm is not type(None)]
        if len(rest) < len(get_args(annotation)):
            return (rest[0] if len(rest) == 1 else Union[tuple(rest)]), True  # noqa: UP007  built at run time
    return annotation, False


def column_type(annotation: object) -> Any:
    bare, _ = strip_annotated(annotation)
    if bare in _PLAIN:
        return _PLAIN[bare]
    if isinstance(bare, type) and issubclass(bare, enum.Enum):
        return Text
    return Json(bare)


_encode = msgspec.json.Encoder().encode


def json_text(value: object) -> str:
    return _encode(value).decode()
