"""Plain text in windows that are cut at paragraphs."""

from collections.abc import Iterator
from typing import TextIO

from .normalization import normalize_text
from .sections import DocumentNotes, Section

_WINDOW_LENGTH = 64 * 1024


def read(stream: TextIO, _notes: DocumentNotes) -> Iterator[Section]:
    rest = ""
    while block := stream.read(_WINDOW_LENGTH):
        rest += block
        if len(rest) >= _WINDOW_LENGTH:
            end = _find_cut(rest)
            yield Section(normalize_text(rest[:end]))
            rest = rest[end:]
    yield Section(normalize_text(rest))


def _find_cut(text: str) -> int:
    """Return the last position in its second half after a paragraph, a line, a sentence or a word."""
    for mark in ("\n\n", "\n", ". ", "。", " "):
        position = text.rfind(mark, len(text) // 2)
        if position > 0:
            return position + len(mark)
    return len(text)
