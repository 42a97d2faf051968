"""Splitting of sections into chunks at paragraphs, lines and sentences."""

from collections.abc import Iterator
from typing import NamedTuple

from semantic_text_splitter import TextSplitter

from .sections import Section

# Without such boundaries, the splitter's time grows with the square of the text's length.
_WINDOW_LENGTH = 10_000


class SectionChunk(NamedTuple):
    text: str
    page: int | None
    heading: str | None


class Chunker:
    def __init__(self, size: int, overlap: int) -> None:
        self._splitter = TextSplitter(size, overlap=overlap)

    def chunks(self, section: Section) -> Iterator[SectionChunk]:
        for window in split_windows(section.text):
            for text in self._splitter.chunks(window):
                yield SectionChunk(text, section.page, section.heading)


def split_windows(text: str) -> Iterator[str]:
    """Yield the text in windows of bounded length, cut where a reader would pause."""
    start = 0
    while len(text) - start > _WINDOW_LENGTH:
        end = find_cut(text, start, start + _WINDOW_LENGTH)
        yield text[start:end]
        start = end
    yield text[start:]


def find_cut(text: str, start: int, limit: int) -> int:
    """Return where to cut, at `limit` at the latest: after a paragraph, a line, a sentence or a word."""
    for mark in ("\n\n", "\n", ". ", "。", " "):
        position = text.rfind(mark, (start + limit) // 2, limit)
        if position > start:
            return position + len(mark)
    return limit
