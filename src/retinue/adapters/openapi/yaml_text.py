"""YAML parsed event by event, so that only JSON values are built and aliases are never expanded."""

import math
import re
from typing import Any

import yaml

from retinue.adapters.openapi.description import InvalidDocument
from retinue.kit.json_types import JsonObject

MAX_INLINE_EVENTS = 250_000
_MAX_DEPTH = 64
# Stands for the unquoted key `<<`; in quotes it is ordinary text.
_MERGE = object()

# The words of YAML 1.2: `no`, `on`, `12:30` and dates are texts.
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,60}", re.ASCII)
_NUMBER = re.compile(r"[-+]?([0-9]{1,60}(\.[0-9]{0,60})?|\.[0-9]{1,60})([eE][-+]?[0-9]{1,3})?", re.ASCII)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load() -> None:
    """Load what parsing needs, before the process gives up its files."""
    parse_yaml("a: 1")


def parse_yaml(text: str, *, max_events: int = MAX_INLINE_EVENTS, max_length: int | None = None) -> Any:
    """Parse YAML; with `max_length`, refuse a document whose aliases make it longer than that."""
    builder = _Builder(max_events)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.handle_event(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise InvalidDocument(f"is not valid YAML: {error.problem} in line {line}") from None
    except yaml.YAMLError:
        raise InvalidDocument("is not valid YAML") from None
    if max_length is not None and builder.length > max_length:
        raise InvalidDocument("has YAML aliases that repeat too much")
    return builder.result()


class _OpenCollection:
    """A list or mapping that has not ended yet; a mapping's keys and values alternate."""

    def __init__(self, anchor: str | None, *, is_mapping: bool) -> None:
        self.anchor = anchor
        self.is_mapping = is_mapping
        self.items: list[Any] = []
        self.length = 1

    @property
    def wants_key(self) -> bool:
        return self.is_mapping and len(self.items) % 2 == 0


class _Builder:
    def __init__(self, max_events: int) -> None:
        self._max_events = max_events
        self._documents = _OpenCollection(None, is_mapping=False)
        self._open = [self._documents]
        self._anchors: JsonObject = {}
        self._anchor_lengths: dict[str, int] = {}
        self._spent = 0

    @property
    def length(self) -> int:
        """The length of the document with every alias written out, without punctuation."""
        return self._documents.length

    def result(self) -> Any:
        if len(self._documents.items) != 1:
            raise InvalidDocument("must be exactly one YAML document")
        return self._documents.items[0]

    def handle_event(self, event: object) -> None:
        self._spend(1)
        match event:
            case yaml.ScalarEvent():
                value = self._scalar(event.value, is_plain=event.implicit[0])
                self._place(value, event.anchor, 1 + len(event.value))
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise InvalidDocument("has a YAML alias before its anchor is complete")
                self._place(self._anchors[event.anchor], None, self._anchor_lengths[event.anchor])
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if len(self._open) > _MAX_DEPTH:
                    raise InvalidDocument("is nested too deeply")
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                self._open.append(_OpenCollection(event.anchor, is_mapping=is_mapping))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                ended = self._open.pop()
                built = self._mapping(ended.items) if ended.is_mapping else ended.items
                self._place(built, ended.anchor, ended.length)

    def _place(self, value: object, anchor: str | None, length: int) -> None:
        parent = self._open[-1]
        if parent.wants_key and not isinstance(value, str) and value is not _MERGE:
            raise InvalidDocument("has a YAML key that is not a string")
        parent.items.append(value)
        parent.length += length
        if anchor is not None:
            self._anchors[anchor] = value
            self._anchor_lengths[anchor] = length

    def _scalar(self, text: str, *, is_plain: bool) -> Any:
        if not is_plain:
            return text
        if self._open[-1].wants_key:
            return _MERGE if text == "<<" else text
        return parse_plain_scalar(text)

    def _mapping(self, items: list[Any]) -> JsonObject:
        built: JsonObject = {}
        merged: JsonObject = {}
        for key, value in zip(items[::2], items[1::2], strict=True):
            if key is _MERGE:
                self._merge(merged, value)
            else:
                built[key] = value
        return {**merged, **built} if merged else built

    def _merge(self, merged: JsonObject, value: object) -> None:
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise InvalidDocument("merges (<<) a value that is not a mapping")
            self._spend(len(source))
            for key, inner in source.items():
                merged.setdefault(key, inner)

    def _spend(self, amount: int) -> None:
        self._spent += amount
        if self._spent > self._max_events:
            raise InvalidDocument("has too much YAML; convert it to JSON")


def parse_plain_scalar(text: str) -> Any:
    """Return what a scalar without quotes means."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
