"""Changes a tenant to match a document in one transaction, through the services that the API uses.

New objects are created first, so that all have an id; then objects get their content; deletions come last,
when nothing refers to the objects any more.
"""

from collections.abc import Awaitable, Collection
from typing import Any

from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, Invalid, RetinueError
from retinue.tenant_file.models import FileName
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections import CREATION_ORDER, SECTIONS


async def apply_changes(ctx: Context, names: ReferenceIndex, changes: list[PlannedChange]) -> None:
    ordered = sorted(changes, key=lambda change: _creation_rank(change.section))
    for change in ordered:
        if change.action == "create":
            section = SECTIONS[change.section]
            record = await _with_location(change, section.create(ctx, names, change))
            names.add(change.section, change.name, record)
    for change in ordered:
        section = SECTIONS[change.section]
        if change.action == "update" or (change.action == "create" and section.is_filled_later):
            record = names.records[change.section][change.name]
            await _with_location(change, section.update(ctx, names, change, record))
    for change in reversed(ordered):
        if change.action == "delete":
            record = names.records[change.section].pop(change.name)
            await _with_location(change, SECTIONS[change.section].delete(ctx, record))
    await _store_names(ctx, names, {change.section for change in changes})


def _creation_rank(section: str) -> int:
    if section in CREATION_ORDER:
        return CREATION_ORDER.index(section)
    return len(CREATION_ORDER) + list(SECTIONS).index(section)


async def _with_location(change: PlannedChange, operation: Awaitable[Any]) -> Any:
    """Await the operation; errors are reported with the object they concern."""
    try:
        return await operation
    except Invalid as error:
        details = {_place(change, path): text for path, text in (error.details or {}).items()}
        raise Invalid(details or {change.location: error.message}) from None
    except Forbidden as error:
        error.message = f"{change.location}: {error.message}"
        error.details = {**(error.details or {}), "object": change.location}
        raise
    except RetinueError as error:
        if error.status >= 500 or error.status == 429:
            raise
        raise Invalid({change.location: error.message}) from error


def _place(change: PlannedChange, path: str) -> str:
    return f"{change.location}: {path.strip('.')}"


async def _store_names(ctx: Context, names: ReferenceIndex, sections: Collection[str]) -> None:
    """Store the names that a file gave to records with another name; forget those of deleted ones."""
    wanted: dict[tuple[str, str], str] = {}
    for section in sections:
        keys = {record.id: key for key, record in names.records[section].items()}
        # Read again: updates may have changed what the records are called.
        for record in await SECTIONS[section].load(ctx):
            key = keys.get(record.id)
            if key is not None and SECTIONS[section].natural_name(names, record) != key:
                wanted[section, record.id] = key
    for stored in names.stored:
        place = (stored.section, stored.record_id)
        if stored.section not in sections:
            continue
        if wanted.get(place) == stored.name:
            del wanted[place]
        else:
            await ctx.db.delete(stored)
    for (section, record_id), key in wanted.items():
        await ctx.db.insert(FileName(section=section, name=key, record_id=record_id))
