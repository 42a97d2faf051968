"""Records that people can find by name: each domain declares its own, the search looks through all."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.kit.db.models import TenantRecord
from retinue.kit.principal import Principal


class SearchSource(msgspec.Struct, frozen=True, kw_only=True):
    """The records of one kind, for callers with the permission `requires`.

    `name` is the column or expression that is searched first, `description` is searched after it, and
    `parent` is an expression for the id of the record that it belongs to. `only` holds conditions that always
    apply. With `reads_all`, callers for whom it returns false find only records with their `user_id`. With
    `newest_by`, only the records with the highest values in these columns are searched by name.
    """

    kind: str
    requires: str
    record: type[TenantRecord]
    name: Any
    description: Any = None
    parent: Any = None
    only: tuple[Any, ...] = ()
    reads_all: Callable[[Principal], bool] | None = None
    newest_by: tuple[str, ...] = ()
