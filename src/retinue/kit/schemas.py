"""Public shapes: what may be written and what is shown, apart from what is stored."""

import functools
import operator
from collections.abc import Callable
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta


class Schema(msgspec.Struct, kw_only=True):
    """A shape that can be made from a record or anything with the same attributes."""

    @classmethod
    def of(cls, source: Any, **more: Any) -> Self:
        """The fields of this shape, from `source`, with `more` over them."""
        names, read = _reader(cls, tuple(more))
        return cls(**dict(zip(names, read(source), strict=True)), **more)


@functools.cache
def _reader(shape: type[Schema], given: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    """The fields to read, and one call that reads them all."""
    names = tuple(name for name in shape.__struct_fields__ if name not in given)
    if len(names) > 1:
        return names, operator.attrgetter(*names)
    return names, lambda source: tuple(getattr(source, name) for name in names)


class Message(Schema):
    message: str


def given(body: msgspec.Struct) -> dict[str, Any]:
    """The fields of an update that the caller really sent: those that are not UNSET."""
    values = {name: getattr(body, name) for name in body.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}


# Something one can see. `\S` alone is not the same here and in the schema: what is blank differs by dialect.
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"[^\s\x1c-\x1f\x85\ufeff]")]
# Deliberately loose: the only proof of an address is a mail that arrives. No spaces, controls or brackets.
Email = Annotated[
    str,
    Meta(
        max_length=254, pattern=r'^[^\s@\x00-\x1f<>(),;:\\"\[\]]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$(?!\n)'
    ),
]
