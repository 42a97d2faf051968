"""Plain text in windows that are cut at paragraphs."""

from collections.abc import Iterator
from typing import TextIO

from .chunking import find_cut
from .normalization import normalize_text
from .sections import DocumentNotes, Section

_WINDOW_LENGTH = 64 * 1024


def read(stream: TextIO, _notes: DocumentNotes) -> Iterator[Section]:
    rest = ""
    while block := stream.read(_WINDOW_LENGTH):
        rest += block
        if len(rest) >= _WINDOW_LENGTH:
            end = find_cut(rest, 0, len(rest))
            yield Section(normalize_text(rest[:end]))
            rest = rest[end:]
    yield Section(normalize_text(rest))
