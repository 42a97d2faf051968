"""The document while it is read: its local references, what had to be left out, and how much work is left."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

from retinue.adapters.openapi.description import InvalidDocument, Skipped

_MOST_SKIPPED = 200
_MOST_HOPS = 8
_MOST_NAMES = 50
_MOST_WORK = 400_000
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Unusable(Exception):
    """An operation that no tool can call; `why` goes into what was skipped."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Source:
    """`is_swagger` tells the 2.0 format from the 3.x ones; `patterns` remembers which of them can be used."""

    def __init__(self, document: Mapping[str, Any], *, is_swagger: bool) -> None:
        self.document = document
        self.is_swagger = is_swagger
        self.patterns: dict[str, bool] = {}
        self._skipped: dict[Skipped, None] = {}
        self._work_left = _MOST_WORK

    def skip(self, what: str, why: str) -> None:
        if len(self._skipped) <= _MOST_SKIPPED:
            self._skipped[Skipped(text_of(what, 200), why)] = None

    def skipped(self) -> list[Skipped]:
        noted = list(self._skipped)
        return (
            noted
            if len(noted) <= _MOST_SKIPPED
            else [*noted[:_MOST_SKIPPED], Skipped("…", "more was left out")]
        )

    def spend(self, amount: int = 1) -> None:
        self._work_left -= amount
        if self._work_left < 0:
            raise InvalidDocument("is too large or refers to itself too often")

    @property
    def is_tired(self) -> bool:
        """Whether what can be done without should be left undone."""
        return self._work_left < _MOST_WORK // 2

    def follow(self, value: Any) -> dict[str, Any]:
        """An object itself, or the one its references lead to; empty when there is none."""
        for _ in range(_MOST_HOPS):
            if not isinstance(value, dict):
                return {}
            if not isinstance(value.get("$ref"), str):
                return value
            value = self.find(value["$ref"])
        return {}

    def find(self, reference: str) -> Any:
        """What a reference of the document to itself points at; others are never looked up."""
        self.spend(1 + len(reference) // 50)
        if not reference.startswith("#"):
            self.skip(f"the reference {reference}", "lies outside the document")
            return None
        found: Any = self.document
        for part in reference[1:].split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and len(name) < 6:
                found = found[int(name)] if int(name) < len(found) else None
            else:
                found = found.get(name) if isinstance(found, dict) else None
        return found


def text_of(value: Any, longest: int) -> str:
    """A text on one or several lines, without what no text should hold."""
    if isinstance(value, float) or (type(value) is int and abs(value) < 10**18):
        value = str(value)
    if not isinstance(value, str):
        return ""
    return _UNPRINTABLE.sub("", value[: longest * 2]).strip()[:longest]


def is_json(media_type: Any) -> bool:
    if not isinstance(media_type, str):
        return False
    plain = media_type.partition(";")[0].strip().lower()
    return plain.endswith(("/json", "+json")) or plain in {"*/*", "application/*"}


def schema_of_json(content: Any) -> Any:
    """The schema for the first media type that is JSON; None when there is none."""
    if not isinstance(content, dict):
        return None
    described = next((content[name] for name in islice(content, _MOST_NAMES) if is_json(name)), None)
    return described.get("schema") if isinstance(described, dict) else None
