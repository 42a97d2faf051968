"""The declaration of a section of a file: its records and permissions, how they are read and changed."""

import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.text.header_masks import MASK
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import NaturalName, ReferenceIndex

LoadRecords = Callable[[Context], Awaitable[list[Any]]]
ExportPart = Callable[[Context, ReferenceIndex, Any], Awaitable[Any]]
CreateRecord = Callable[[Context, ReferenceIndex, PlannedChange], Awaitable[Any]]
UpdateRecord = Callable[[Context, ReferenceIndex, PlannedChange, Any], Awaitable[None]]
DeleteRecord = Callable[[Context, Any], Awaitable[None]]


class FileSection(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of objects in a file.

    `natural_name` is what an object is called if no file gave it another name. With `is_filled_later`,
    objects are created empty, and updated once all have an id. `secrets_note` says what to enter for a new
    object that has secrets of its own.
    """

    name: str
    write_key: str
    delete_key: str = ""
    load: LoadRecords
    natural_name: NaturalName
    export: ExportPart
    create: CreateRecord
    update: UpdateRecord
    delete: DeleteRecord
    is_filled_later: bool = False
    secrets_note: str = ""

    @property
    def key_to_delete(self) -> str:
        return self.delete_key or self.write_key


def load_all(record: type[Any]) -> LoadRecords:
    """Return a loader of all records of the tenant, oldest first."""
    return functools.partial(_load_all, record)


async def _load_all(record: type[Any], ctx: Context) -> list[Any]:
    return await ctx.db.all(record, order_by=("created_at", "id"))


def own_name(_names: ReferenceIndex, record: Any) -> str:
    return str(record.name)


def own_slug(_names: ReferenceIndex, record: Any) -> str:
    return str(record.slug)


def fill_part(part: type[Any], source: object, **overrides: Any) -> Any:
    """Fill the fields of a part from a record, as plain values."""
    values = {name: getattr(source, name) for name in part.__struct_fields__ if name not in overrides}
    return msgspec.convert({**msgspec.to_builtins(values), **overrides}, part)


def shown_name(names: ReferenceIndex, record: Any) -> str | None:
    """Return the name of a record if it differs from its name in the file."""
    return None if names.key_of(record.id) == record.name else str(record.name)


def wanted_name(change: PlannedChange) -> str:
    return str(change.part.name or change.name)


def masked_headers(names: Iterable[str], stored: Iterable[str]) -> dict[str, str]:
    """Return headers by name: the mask keeps a stored value, a new one is empty until it is entered."""
    known = {name.lower() for name in stored}
    return {name: MASK if name.lower() in known else "" for name in names}
