"""Differences between the tools that a server lists now and those that were agreed to."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from retinue.tools.config.mcp_functions import Functions, compared

MAX_CHANGES = 200
_MAX_TEXT_LENGTH = 500
_MAX_LEVELS = 12


class FunctionChange(msgspec.Struct, frozen=True, kw_only=True):
    """One difference inside a function; what is not there is null."""

    name: str
    path: str
    before: Any = msgspec.field(name="from", default=None)
    after: Any = msgspec.field(name="to", default=None)


class ListingDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The differences; at most 200 changes are listed."""

    added: list[str] = []
    removed: list[str] = []
    changed: list[FunctionChange] = []

    @property
    def changed_names(self) -> list[str]:
        return list(dict.fromkeys(change.name for change in self.changed))

    @property
    def names(self) -> list[str]:
        return [*self.added, *self.removed, *self.changed_names]


def compare(agreed: Functions, listed: Functions, ignored: list[str]) -> ListingDiff:
    """Compare functions; those that the tool leaves out on purpose are not added ones."""
    changes = [
        change
        for name, function in agreed.items()
        if name in listed
        for change in _first_changes(name, compared(function), compared(listed[name]))
    ]
    return ListingDiff(
        added=[name for name in listed if name not in agreed and name not in ignored],
        removed=[name for name in agreed if name not in listed],
        changed=_limited(changes),
    )


def _first_changes(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[FunctionChange]:
    found: list[FunctionChange] = []
    for change in _changes(name, (), before, after):
        found.append(change)
        if len(found) == MAX_CHANGES:
            break
    return found


def _limited(changes: list[FunctionChange]) -> list[FunctionChange]:
    """Return at most 200 changes, of which every changed function has at least one."""
    if len(changes) <= MAX_CHANGES:
        return changes
    first = {change.name: change for change in reversed(changes)}
    rest = [change for change in changes if first[change.name] is not change]
    return [*first.values(), *rest[: max(0, MAX_CHANGES - len(first))]]


def _changes(name: str, path: tuple[str, ...], before: Any, after: Any) -> Iterator[FunctionChange]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict) and len(path) < _MAX_LEVELS:
        for key in dict.fromkeys([*before, *after]):
            yield from _changes(name, (*path, key), before.get(key), after.get(key))
        return
    yield FunctionChange(name=name, path=".".join(path), before=_shorten(before), after=_shorten(after))


def _shorten(value: Any) -> Any:
    """Return the value, or the beginning of a long one as text."""
    encoded = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(encoded) <= _MAX_TEXT_LENGTH else f"{encoded[:_MAX_TEXT_LENGTH]}…"
