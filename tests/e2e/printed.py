"""Comparison of an answer with the one that a page prints.

`…` in a text stands for any characters, between the keys of an object for further keys, between the elements
of a list for further elements, and in the place of a value for any value. What has none is printed whole.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

MORE = "…"
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*…?|true|false|null")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class Anything:
    """Any value at all."""


@dataclass
class Entries:
    """The members of an object, or the elements of a list."""

    is_open: bool = False
    members: dict[str, Any] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)
    is_list: bool = False


class NotJson(Exception):
    """The printed text is no JSON, not even with `…` in it."""


def difference(printed: str, real: str) -> str:
    """Return the first difference that a reader would see; empty if there is none."""
    if printed.startswith(("{", "[")):
        try:
            wanted = _Reader(printed).whole()
        except NotJson as error:
            return f"the printed answer is no JSON: {error}"
        try:
            answer = json.loads(real)
        except ValueError:
            return "the answer is no JSON"
        return _differs(wanted, answer, "")
    pattern = "".join(_line_pattern(line) for line in _trimmed(printed).split("\n"))
    return "" if re.fullmatch(pattern, _trimmed(real) + "\n", re.DOTALL) else "the text is another one"


def _line_pattern(line: str) -> str:
    """A line that is nothing but `…` stands for any number of lines."""
    return "(?:.*\n)?" if line == MORE else ".*".join(re.escape(part) for part in line.split(MORE)) + "\n"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def _differs(wanted: Any, real: Any, path: str) -> str:
    if isinstance(wanted, Anything):
        return ""
    if isinstance(wanted, re.Pattern):
        text = real if isinstance(real, str) else json.dumps(real)
        return "" if wanted.fullmatch(text) else f"{path}: {real!r}"
    if not isinstance(wanted, Entries):
        is_same = wanted == real and isinstance(wanted, bool) == isinstance(real, bool)
        return "" if is_same else f"{path}: printed {wanted!r}, is {real!r}"
    return _differs_in_list(wanted, real, path) if wanted.is_list else _differs_in_object(wanted, real, path)


def _differs_in_list(wanted: Entries, real: Any, path: str) -> str:
    if not isinstance(real, list):
        return f"{path}: a list is printed"
    if len(real) < len(wanted.elements) or (len(real) > len(wanted.elements) and not wanted.is_open):
        return f"{path}: {len(wanted.elements)} elements are printed, there are {len(real)}"
    pairs = zip(wanted.elements, real, strict=False)
    found = (_differs(one, other, f"{path}[{at}]") for at, (one, other) in enumerate(pairs))
    return next(filter(None, found), "")


def _differs_in_object(wanted: Entries, real: Any, path: str) -> str:
    if not isinstance(real, dict):
        return f"{path}: an object is printed"
    missing = wanted.members.keys() - real.keys()
    if missing:
        return f"{path}: {sorted(missing)} are printed, but not in the answer"
    left_out = real.keys() - wanted.members.keys()
    if left_out and not wanted.is_open:
        return f"{path}: {sorted(left_out)} are not printed, and no … says so"
    found = (_differs(value, real[key], f"{path}.{key}") for key, value in wanted.members.items())
    return next(filter(None, found), "")


class _Reader:
    """Reads JSON that may have `…` in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def whole(self) -> Any:
        value = self._value()
        if self._peek():
            raise NotJson(f"something follows at {self._text[self._at :][:40]!r}")
        return value

    def _peek(self) -> str:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise NotJson(f"{character!r} is missing before {self._text[self._at :][:40]!r}")
        self._at += 1

    def _value(self) -> Any:
        first = self._peek()
        if first in {"{", "["}:
            return self._entries(is_list=first == "[")
        if first == '"':
            return self._string()
        if first == MORE:
            self._at += 1
            return Anything()
        found = _SCALAR.match(self._text, self._at)
        if found is None:
            raise NotJson(f"no value at {self._text[self._at :][:40]!r}")
        self._at = found.end()
        return re.compile(re.escape(found[0][:-1]) + ".*") if MORE in found[0] else json.loads(found[0])

    def _string(self) -> Any:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise NotJson(f"a text does not end: {self._text[self._at :][:40]!r}")
        self._at = found.end()
        text = json.loads(found[0])
        if MORE not in text:
            return text
        return re.compile(".*".join(re.escape(part) for part in text.split(MORE)), re.DOTALL)

    def _entries(self, *, is_list: bool) -> Entries:
        entries, end = Entries(is_list=is_list), "]" if is_list else "}"
        self._at += 1
        while self._peek() != end:
            if entries.members or entries.elements or entries.is_open:
                self._take(",")
            self._entry(entries)
        self._at += 1
        return entries

    def _entry(self, entries: Entries) -> None:
        if self._peek() == MORE:
            self._at += 1
            entries.is_open = True
        elif entries.is_list:
            entries.elements.append(self._value())
        else:
            self._peek()
            name = self._string()
            self._take(":")
            entries.members[name] = self._value()
