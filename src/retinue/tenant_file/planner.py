"""Plans an apply: every object to create, update or delete, with the fields that differ."""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import MASK, restore_masked_headers
from retinue.tenant_file.document import SECTION_NAMES, TenantDocument
from retinue.tenant_file.parts import leaves, to_plain
from retinue.tenant_file.schemas import ChangeAction

ABSENT: Any = msgspec.UNSET


class PlannedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A planned change; `changed` lists the fields that differ, with their old and new values."""

    section: str
    name: str
    action: ChangeAction
    part: Any = None
    changed: tuple[tuple[str, Any, Any], ...] = ()

    @property
    def location(self) -> str:
        return f"{self.section}/{self.name}"


def plan_changes(current: TenantDocument, document: TenantDocument, *, prune: bool) -> list[PlannedChange]:
    """Return a change for every object of the sections in `document`, `unchanged` ones included."""
    changes: list[PlannedChange] = []
    for section in SECTION_NAMES:
        after = document.section(section)
        if after is None:
            continue
        before = current.section(section) or {}
        for name in sorted(before.keys() | after.keys()):
            if name in after:
                changes.append(_compare_part(section, name, before.get(name), after[name]))
            elif prune:
                changes.append(PlannedChange(section=section, name=name, action="delete"))
    return changes


def _compare_part(section: str, name: str, before: Any, after: Any) -> PlannedChange:
    if before is None:
        change = PlannedChange(section=section, name=name, action="create", part=after)
    else:
        old = to_plain(before, with_defaults=True)
        new = restore_masked_headers(to_plain(after, with_defaults=True), old)
        after = msgspec.convert(new, type(after))
        changed = tuple(_differences(old, new))
        change = PlannedChange(
            section=section,
            name=name,
            action="update" if changed else "unchanged",
            part=after,
            changed=changed,
        )
    masked = next((path for path, value in leaves(to_plain(change.part)) if value == MASK), None)
    if masked is not None:
        raise Invalid({f"{change.location}: {masked}": "is masked. Enter the value itself."})
    return change


def settle_changes(
    changes: list[PlannedChange], before: TenantDocument, after: TenantDocument
) -> list[PlannedChange]:
    """Return the changes with what the updates really changed: a file may write the same in another way."""
    return [
        _settle(change, (before.section(change.section) or {}), (after.section(change.section) or {}))
        if change.action == "update"
        else change
        for change in changes
    ]


def _settle(change: PlannedChange, before: JsonObject, after: JsonObject) -> PlannedChange:
    old, new = (to_plain(parts[change.name], with_defaults=True) for parts in (before, after))
    changed = tuple(_differences(old, new))
    return msgspec.structs.replace(change, changed=changed, action="update" if changed else "unchanged")


def _differences(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    for values in (before, after):
        # The file cannot change secrets, so whether there are any is not a difference.
        values.pop("own_secrets", None)
    yield from _compare("", before, after)


def _compare(path: str, before: object, after: object) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else name
            yield from _compare(inner, before.get(name, ABSENT), after.get(name, ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}.{index}", old, new)
    elif before != after:
        yield path, before, after


def hash_plan(current: TenantDocument, document: TenantDocument, ids: dict[str, str], *, prune: bool) -> str:
    """Return a hash of what a plan depends on: both states, and which records the names stand for."""
    sections = [name for name in SECTION_NAMES if document.section(name) is not None]
    parts = {name: current.section(name) for name in sections}
    content = to_plain([ids, prune, parts, document])
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
