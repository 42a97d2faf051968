"""A checked statement, ready for any of the drivers."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from retinue.adapters.databases.connection import DbType

Operation = Literal["select", "insert", "update", "delete"]


class Query(msgspec.Struct, frozen=True):
    """`texts` are the pieces of SQL around the parameters, `order` the arguments that stand between them."""

    db_type: DbType
    operation: Operation
    texts: tuple[str, ...]
    order: tuple[int, ...] = ()
    arguments: tuple[Any, ...] = ()

    @property
    def is_read(self) -> bool:
        return self.operation == "select"

    def written(self, parameter: Callable[[int], str]) -> str:
        """The SQL with each parameter written as the driver wants it, by the number of its argument."""
        pieces = [self.texts[0]]
        for index, text in zip(self.order, self.texts[1:], strict=True):
            pieces += [parameter(index), text]
        return "".join(pieces)
