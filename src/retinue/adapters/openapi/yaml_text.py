"""YAML read event by event, so that nothing is built but JSON values and no alias is ever unfolded."""

import math
import re
from typing import Any

import yaml

from retinue.adapters.openapi.description import InvalidDocument

_MOST_EVENTS = 250_000
_DEEPEST = 64
# Stands for the key `<<`; in quotes it is a text like any other.
_MERGE = object()

# The words of YAML 1.2: `no`, `on` and `12:30` are texts, and so are dates.
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,60}", re.ASCII)
_NUMBER = re.compile(r"[-+]?([0-9]{1,60}(\.[0-9]{0,60})?|\.[0-9]{1,60})([eE][-+]?[0-9]{1,3})?", re.ASCII)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise InvalidDocument(f"is not valid YAML: {error.problem} in line {line}") from None
    except yaml.YAMLError:
        raise InvalidDocument("is not valid YAML") from None
    return builder.finished()


class _Open:
    """A list or mapping whose end has not come yet; a mapping's keys and values take turns."""

    def __init__(self, anchor: str | None, *, is_mapping: bool) -> None:
        self.anchor = anchor
        self.is_mapping = is_mapping
        self.items: list[Any] = []

    @property
    def wants_key(self) -> bool:
        return self.is_mapping and len(self.items) % 2 == 0


class _Builder:
    def __init__(self) -> None:
        self._documents = _Open(None, is_mapping=False)
        self._open = [self._documents]
        self._anchors: dict[str, Any] = {}
        self._spent = 0

    def finished(self) -> Any:
        if len(self._documents.items) != 1:
            raise InvalidDocument("must be exactly one YAML document")
        return self._documents.items[0]

    def take(self, event: Any) -> None:
        self._spend(1)
        match event:
            case yaml.ScalarEvent():
                self._place(self._scalar(event.value, is_plain=event.implicit[0]), event.anchor)
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise InvalidDocument("has a YAML alias for something that is not complete before it")
                self._place(self._anchors[event.anchor], None)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if len(self._open) > _DEEPEST:
                    raise InvalidDocument("is nested too deeply")
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                self._open.append(_Open(event.anchor, is_mapping=is_mapping))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                ended = self._open.pop()
                self._place(self._mapping(ended.items) if ended.is_mapping else ended.items, ended.anchor)

    def _place(self, value: Any, anchor: str | None) -> None:
        into = self._open[-1]
        if into.wants_key and not isinstance(value, str) and value is not _MERGE:
            raise InvalidDocument("has a YAML key that is not a text")
        into.items.append(value)
        if anchor is not None:
            self._anchors[anchor] = value

    def _scalar(self, text: str, *, is_plain: bool) -> Any:
        if not is_plain:
            return text
        if self._open[-1].wants_key:
            return _MERGE if text == "<<" else text
        return _meaning(text)

    def _mapping(self, items: list[Any]) -> dict[str, Any]:
        built: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in zip(items[::2], items[1::2], strict=True):
            if key is _MERGE:
                self._merge(merged, value)
            else:
                built[key] = value
        return {**merged, **built} if merged else built

    def _merge(self, merged: dict[str, Any], value: Any) -> None:
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise InvalidDocument("merges (<<) something into a mapping that is no mapping")
            self._spend(len(source))
            for key, inner in source.items():
                merged.setdefault(key, inner)

    def _spend(self, amount: int) -> None:
        self._spent += amount
        if self._spent > _MOST_EVENTS:
            raise InvalidDocument("has more YAML than can be read here; JSON may be larger")


def _meaning(text: str) -> Any:
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
