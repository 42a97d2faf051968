"""Plain text, in windows that are cut at paragraphs."""

from collections.abc import Iterator
from typing import TextIO

from .chunking import cut
from .cleaning import clean
from .sections import Notes, Section

_WINDOW = 64 * 1024


def read(stream: TextIO, _notes: Notes) -> Iterator[Section]:
    rest = ""
    while block := stream.read(_WINDOW):
        rest += block
        if len(rest) >= _WINDOW:
            end = cut(rest, 0, len(rest))
            yield Section(clean(rest[:end]))
            rest = rest[end:]
    yield Section(clean(rest))
