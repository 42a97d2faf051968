"""What an apply would do: every object that is made, changed or deleted, with the fields that differ."""

from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.cli.tenant_file.document import SECTIONS, Document

_ABSENT: Any = object()
_LONGEST = 60


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """`changed` are the fields that differ, with what they were and what they become."""

    section: str
    name: str
    action: str
    part: Any = None
    changed: tuple[tuple[str, Any, Any], ...] = ()

    def lines(self) -> Iterator[str]:
        mark = {"create": "+", "change": "~", "delete": "-"}[self.action]
        yield f"{mark} {self.section}/{self.name}"
        for path, before, after in self.changed:
            yield f"    {path}: {_shown(before)} -> {_shown(after)}"


def plan(current: Document, wanted: Document) -> list[Step]:
    steps: list[Step] = []
    for section in SECTIONS:
        after = wanted.section(section)
        if after is None:
            continue
        before = current.section(section) or {}
        for name in sorted(before.keys() | after.keys()):
            if name not in after:
                steps.append(Step(section=section, name=name, action="delete"))
            elif name not in before:
                steps.append(Step(section=section, name=name, action="create", part=after[name]))
            elif changed := tuple(_differences(before[name], after[name])):
                steps.append(
                    Step(section=section, name=name, action="change", part=after[name], changed=changed)
                )
    return steps


def _differences(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    for one in (old, new):
        # Secrets stay where they are, so that some are there is no difference that could be applied.
        one.pop("own_secrets", None)
    yield from _between("", old, new)


def _between(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else name
            yield from _between(inner, before.get(name, _ABSENT), after.get(name, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _between(f"{path}.{index}", old, new)
    elif before != after:
        yield path, before, after


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "(default)"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
