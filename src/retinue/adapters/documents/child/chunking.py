"""Sections cut into pieces at paragraphs, lines and sentences."""

from collections.abc import Iterator
from typing import NamedTuple

from semantic_text_splitter import TextSplitter

from .sections import Section

# Where there is nothing to cut at, the splitter's time grows with the square of what it is given.
_WINDOW = 10_000


class Chunk(NamedTuple):
    text: str
    page: int | None
    heading: str | None


class Chunker:
    def __init__(self, size: int, overlap: int) -> None:
        self._splitter = TextSplitter(size, overlap=overlap)

    def chunks(self, section: Section) -> Iterator[Chunk]:
        for window in windows(section.text):
            for text in self._splitter.chunks(window):
                yield Chunk(text, section.page, section.heading)


def windows(text: str) -> Iterator[str]:
    """The text in parts of bounded length, cut where a reader would pause."""
    start = 0
    while len(text) - start > _WINDOW:
        end = cut(text, start, start + _WINDOW)
        yield text[start:end]
        start = end
    yield text[start:]


def cut(text: str, start: int, most: int) -> int:
    """Where to cut, at `most` at the latest: behind a paragraph, a line, a sentence or a word."""
    for mark in ("\n\n", "\n", ". ", "。", " "):
        found = text.rfind(mark, (start + most) // 2, most)
        if found > start:
            return found + len(mark)
    return most
