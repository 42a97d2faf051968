"""Entity tags: a tag identifies the version of a record and changes with every edit.

Fields that the product itself updates, such as usage counters, are listed in the record's `__untagged__` and
do not affect the tag.
"""

import functools
import hashlib
import operator
from collections.abc import Callable
from typing import Any

import msgspec

from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Record

_TAG_BYTES = 15


class ExpectedVersion(msgspec.Struct, frozen=True):
    """The record that a caller wants to change, and the entity tags it may have."""

    record: type[Record]
    id: str
    tags: frozenset[str]


def entity_tag(record: Record) -> str:
    """Return the strong entity tag of a stored record, in quotation marks."""
    values = _tagged_values(type(record))(record)
    return f'"{hashlib.blake2b(_encode(values), digest_size=_TAG_BYTES).hexdigest()}"'


@functools.cache
def _tagged_values(record: type[Record]) -> Callable[[Record], tuple[Any, ...]]:
    names = (name for name in record.__shape__.names if name not in record.__untagged__)
    return operator.attrgetter(*names)


def _plain(value: object) -> Any:
    if isinstance(value, Sealed):
        return value.digest
    raise TypeError(f"{type(value).__name__} cannot be part of an entity tag")


_encode = msgspec.json.Encoder(enc_hook=_plain).encode
