"""Markdown as it was written, in sections under its headings; nothing is rendered."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import TextIO

from .outline import Outline
from .sections import Notes, Section

_LONGEST_HEADING = 1000
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A line that begins something else than a paragraph cannot be underlined into a heading.
_OTHER_BLOCK = re.compile(r" {0,3}(?:[-*+>|]|\d{1,9}[.)])")


def read(stream: TextIO, _notes: Notes) -> Iterator[Section]:
    outline, code = Outline(), _Code()
    lines = iter(stream)
    first = next(lines, "")
    if first.rstrip() == "---":
        yield from _front_matter(outline, lines)
    else:
        lines = chain([first], lines)
    # One line is held back: the next may be the rule that makes it a heading.
    held, is_title = "", False
    for line in lines:
        is_code = code.takes(line)
        title = None if is_code else _title(line)
        underlined = None if is_code or not is_title else _UNDERLINE.match(line.rstrip("\r\n"))
        if underlined:
            yield from outline.enter(1 if underlined[1][0] == "=" else 2, held)
            held, is_title = "", False
            continue
        yield from outline.add(held)
        if title:
            yield from outline.enter(*title)
        is_title = not (is_code or title or held.strip()) and _may_be_title(line)
        held = "" if title else line
    yield from outline.add(held)
    yield from outline.end()


def _front_matter(outline: Outline, lines: Iterator[str]) -> Iterator[Section]:
    for line in lines:
        if line.rstrip() in {"---", "..."}:
            return
        yield from outline.add(line)


def _title(line: str) -> tuple[int, str] | None:
    found = _ATX.match(line.rstrip("\r\n")) if len(line) <= _LONGEST_HEADING else None
    return (len(found[1]), _CLOSING.sub("", found[2] or "")) if found else None


def _may_be_title(line: str) -> bool:
    """Whether a line below a blank one is a paragraph so far."""
    return bool(line.strip()) and len(line) <= _LONGEST_HEADING and not _OTHER_BLOCK.match(line)


class _Code:
    """Fenced code, where a # begins a comment and no heading."""

    def __init__(self) -> None:
        self._fence = ""

    def takes(self, line: str) -> bool:
        found = _FENCE.match(line)
        if not self._fence:
            self._fence = found[1] if found else ""
            return found is not None
        if found and found[1].startswith(self._fence) and not line[found.end() :].strip():
            self._fence = ""
        return True
