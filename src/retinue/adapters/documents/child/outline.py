"""Text gathered under the headings it stands below."""

from collections.abc import Iterator

from .cleaning import clean, clean_line
from .sections import Section

LONGEST_HEADING = 200
_LONGEST_SECTION = 64 * 1024


class Outline:
    """Takes headings and text in the order of the document and gives sections back."""

    def __init__(self) -> None:
        self._titles: dict[int, str] = {}
        self._level = 0
        self._is_bare = False
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str) -> Iterator[Section]:
        self._parts.append(text)
        self._length += len(text)
        # A section is cleaned and copied as a whole, so a long one is given back in several.
        if self._length > _LONGEST_SECTION:
            yield from self._gathered()

    def enter(self, level: int, title: str) -> Iterator[Section]:
        yield from self._gathered()
        if level <= self._level:
            yield from self._bare()
        self._titles = {at: text for at, text in self._titles.items() if at < level}
        self._titles[level] = clean_line(title)[:LONGEST_HEADING]
        self._level, self._is_bare = level, True

    def end(self) -> Iterator[Section]:
        yield from self._gathered()
        yield from self._bare()

    def _gathered(self) -> Iterator[Section]:
        text = clean("".join(self._parts)).strip()
        self._parts, self._length = [], 0
        if text:
            self._is_bare = False
            yield Section(text, heading=_path(list(self._titles.values())))

    def _bare(self) -> Iterator[Section]:
        """A heading with nothing below it is text itself: it would be lost."""
        if self._is_bare and self._titles[self._level]:
            above = [text for at, text in self._titles.items() if at < self._level]
            yield Section(self._titles[self._level], heading=_path(above))
        self._is_bare = False


def _path(titles: list[str]) -> str | None:
    titles = [title for title in titles if title]
    # The nearest heading says most, so the farthest go first when there is no room for all.
    while len(titles) > 1 and len(" > ".join(titles)) > LONGEST_HEADING:
        titles = titles[1:]
    return " > ".join(titles) or None
