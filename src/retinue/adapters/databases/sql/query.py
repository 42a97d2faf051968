"""A checked statement that any driver can run."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from retinue.adapters.databases.connection import DbType

Operation = Literal["select", "insert", "update", "delete"]


class Attribute(msgspec.Struct, frozen=True):
    """A name after a dot; `relation` is the quoted name of its table, or empty if unknown."""

    name: str
    relation: str = ""


class Query(msgspec.Struct, frozen=True):
    """A checked statement: `texts` are the SQL pieces around the parameters, `order` numbers the arguments.

    `attributes` must be columns; the connection checks that before it executes the statement.
    """

    db_type: DbType
    operation: Operation
    texts: tuple[str, ...]
    order: tuple[int, ...] = ()
    arguments: tuple[Any, ...] = ()
    attributes: tuple[Attribute, ...] = ()

    @property
    def is_read(self) -> bool:
        return self.operation == "select"

    def written(self, parameter: Callable[[int], str]) -> str:
        """Return the SQL with each parameter rendered by the driver from the number of its argument."""
        pieces = [self.texts[0]]
        for index, text in zip(self.order, self.texts[1:], strict=True):
            pieces += [parameter(index), text]
        return "".join(pieces)
