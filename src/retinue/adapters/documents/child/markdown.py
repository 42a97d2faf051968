"""Markdown source in sections under its headings; nothing is rendered."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import TextIO

from .outline import Outline
from .sections import DocumentNotes, Section

_MAX_HEADING_LENGTH = 1000
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A line that starts another kind of block cannot become an underlined heading.
_OTHER_BLOCK = re.compile(r" {0,3}(?:[-*+>|]|\d{1,9}[.)])")


def read(stream: TextIO, _notes: DocumentNotes) -> Iterator[Section]:
    outline, code = Outline(), _CodeFences()
    lines = iter(stream)
    first = next(lines, "")
    if first.rstrip() == "---":
        yield from _front_matter(outline, lines)
    else:
        lines = chain([first], lines)
    # Hold one line back: the next may be the underline that makes it a heading.
    pending_line, may_be_heading = "", False
    for line in lines:
        is_code = code.consume(line)
        heading = None if is_code else _parse_heading(line)
        underlined = None if is_code or not may_be_heading else _UNDERLINE.match(line.rstrip("\r\n"))
        if underlined:
            yield from outline.enter(1 if underlined[1][0] == "=" else 2, pending_line)
            pending_line, may_be_heading = "", False
            continue
        yield from outline.add(pending_line)
        if heading:
            yield from outline.enter(*heading)
        may_be_heading = not (is_code or heading or pending_line.strip()) and _may_be_heading(line)
        pending_line = "" if heading else line
    yield from outline.add(pending_line)
    yield from outline.end()


def _front_matter(outline: Outline, lines: Iterator[str]) -> Iterator[Section]:
    for line in lines:
        if line.rstrip() in {"---", "..."}:
            return
        yield from outline.add(line)


def _parse_heading(line: str) -> tuple[int, str] | None:
    match = _ATX.match(line.rstrip("\r\n")) if len(line) <= _MAX_HEADING_LENGTH else None
    return (len(match[1]), _CLOSING.sub("", match[2] or "")) if match else None


def _may_be_heading(line: str) -> bool:
    """Return whether a line below a blank one may be a heading's text."""
    return bool(line.strip()) and len(line) <= _MAX_HEADING_LENGTH and not _OTHER_BLOCK.match(line)


class _CodeFences:
    """Tracks fenced code, where a # begins a comment rather than a heading."""

    def __init__(self) -> None:
        self._fence = ""

    def consume(self, line: str) -> bool:
        match = _FENCE.match(line)
        if not self._fence:
            self._fence = match[1] if match else ""
            return match is not None
        if match and match[1].startswith(self._fence) and not line[match.end() :].strip():
            self._fence = ""
        return True
