"""Plans an apply: every object to create, change or delete, with the fields that differ."""

from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.cli.tenant_file.document import SECTIONS, TenantDocument

_ABSENT: Any = object()
_MAX_VALUE_LENGTH = 60


class PlannedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A planned change; `changed` lists the fields that differ, with their old and new values."""

    section: str
    name: str
    action: str
    part: Any = None
    changed: tuple[tuple[str, Any, Any], ...] = ()

    def lines(self) -> Iterator[str]:
        mark = {"create": "+", "change": "~", "delete": "-"}[self.action]
        yield f"{mark} {self.section}/{self.name}"
        for path, before, after in self.changed:
            yield f"    {path}: {_format_value(before)} -> {_format_value(after)}"


def plan_changes(current: TenantDocument, wanted: TenantDocument) -> list[PlannedChange]:
    steps: list[PlannedChange] = []
    for section in SECTIONS:
        after = wanted.section(section)
        if after is None:
            continue
        before = current.section(section) or {}
        for name in sorted(before.keys() | after.keys()):
            if name not in after:
                steps.append(PlannedChange(section=section, name=name, action="delete"))
            elif name not in before:
                steps.append(PlannedChange(section=section, name=name, action="create", part=after[name]))
            elif changed := tuple(_differences(before[name], after[name])):
                steps.append(
                    PlannedChange(
                        section=section, name=name, action="change", part=after[name], changed=changed
                    )
                )
    return steps


def _differences(before: object, after: object) -> Iterator[tuple[str, Any, Any]]:
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    for values in (old, new):
        # The file cannot change secrets, so whether there are any is not a difference.
        values.pop("own_secrets", None)
    yield from _compare("", old, new)


def _compare(path: str, before: object, after: object) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else name
            yield from _compare(inner, before.get(name, _ABSENT), after.get(name, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}.{index}", old, new)
    elif before != after:
        yield path, before, after


def _format_value(value: object) -> str:
    if value is _ABSENT:
        return "(default)"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…"
