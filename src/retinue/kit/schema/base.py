"""Base types of the public request and response shapes, which are separate from the stored records."""

import functools
import operator
from collections.abc import Callable
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.messages import PatternMessage


class Schema(msgspec.Struct, kw_only=True):
    """A shape that can be built from a record or any object with the same attributes."""

    @classmethod
    def of(cls, source: Any, /, **more: Any) -> Self:
        """Build the shape from the attributes of `source`; `more` overrides them."""
        names, read = _reader(cls, tuple(more))
        return cls(**dict(zip(names, read(source), strict=True)), **more)


@functools.cache
def _reader(shape: type[Schema], excluded: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    """Return the names of the fields to read, and a function that reads them all."""
    names = tuple(name for name in shape.__struct_fields__ if name not in excluded)
    if len(names) > 1:
        return names, operator.attrgetter(*names)
    return names, lambda source: tuple(getattr(source, name) for name in names)


class MessageReply(Schema):
    message: str


def sent_fields(body: msgspec.Struct) -> JsonObject:
    """Return the fields that the caller sent in an update: those that are not UNSET."""
    values = {name: getattr(body, name) for name in body.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}


# At least one visible character. `\S` would not do: Python and JSON Schema differ on what is blank.
NOT_BLANK = PatternMessage("must not be blank")
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"[^\s\x1c-\x1f\x85\ufeff]"), NOT_BLANK]
# Deliberately loose: only a delivered mail proves an address. No spaces, control characters or brackets.
Email = Annotated[
    str,
    Meta(
        max_length=254, pattern=r'^[^\s@\x00-\x1f<>(),;:\\"\[\]]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$(?!\n)'
    ),
    PatternMessage("must be an e-mail address such as ada@example.com"),
]
