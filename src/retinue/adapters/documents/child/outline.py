"""Grouping of text under the headings above it."""

from collections.abc import Iterator

from .normalization import normalize_line, normalize_text
from .sections import Section

MAX_HEADING_LENGTH = 200
_MAX_SECTION_LENGTH = 64 * 1024


class Outline:
    """Accepts headings and text in document order and yields sections."""

    def __init__(self) -> None:
        self._titles: dict[int, str] = {}
        self._level = 0
        self._is_bare = False
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str) -> Iterator[Section]:
        self._parts.append(text)
        self._length += len(text)
        # A section is normalized and copied as a whole, so a long one is split.
        if self._length > _MAX_SECTION_LENGTH:
            yield from self._flush_text()

    def enter(self, level: int, title: str) -> Iterator[Section]:
        yield from self._flush_text()
        if level <= self._level:
            yield from self._flush_bare_heading()
        self._titles = {at: text for at, text in self._titles.items() if at < level}
        self._titles[level] = normalize_line(title)[:MAX_HEADING_LENGTH]
        self._level, self._is_bare = level, True

    def end(self) -> Iterator[Section]:
        yield from self._flush_text()
        yield from self._flush_bare_heading()

    def _flush_text(self) -> Iterator[Section]:
        text = normalize_text("".join(self._parts)).strip()
        self._parts, self._length = [], 0
        if text:
            self._is_bare = False
            yield Section(text, heading=_path(list(self._titles.values())))

    def _flush_bare_heading(self) -> Iterator[Section]:
        """Yield a heading without text as a section of its own, so that it is not lost."""
        if self._is_bare and self._titles[self._level]:
            above = [text for at, text in self._titles.items() if at < self._level]
            yield Section(self._titles[self._level], heading=_path(above))
        self._is_bare = False


def _path(titles: list[str]) -> str | None:
    titles = [title for title in titles if title]
    # The nearest heading matters most, so the farthest are dropped first.
    while len(titles) > 1 and len(" > ".join(titles)) > MAX_HEADING_LENGTH:
        titles = titles[1:]
    return " > ".join(titles) or None
