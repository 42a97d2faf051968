"""Splitting of sections into chunks where a reader would pause (ADR 43)."""
# ruff: noqa: RUF001  punctuation of many scripts

import re
from collections.abc import Iterator
from typing import NamedTuple

from .graphemes import grapheme_start
from .sections import Section

_CLOSING_MARKS = r"[\"'»”’)\]」』）】*_]*"
_LOWERCASE = "[a-zß-öø-ÿа-яё]"
_PARAGRAPH_END = r"(?=\n[ \t]*\n)"
# A line that goes on in lowercase was only wrapped.
_LINE_END = rf"(?=\n(?!\s|{_LOWERCASE})|\n[ \t]+(?!\s|{_LOWERCASE}))"
# A full stop after one letter or two digits (z. B., 12. May) ends no sentence, nor does one before lowercase.
_SENTENCE_END = (
    rf"(?:[!?…‽؟۔।॥።։]|(?<!\b\w)(?<!\b\d\d)\.){_CLOSING_MARKS}(?=\s)(?!\s+{_LOWERCASE})"
    rf"|[。！？｡]{_CLOSING_MARKS}(?!$)"
)
_ANY_LINE_END = r"(?=\n)"
_WORD_END = r"(?=\s)"
# Where there are no spaces: addresses, JSON, Chinese.
_PUNCTUATION = r"[,;:|/&)\]}>、，；：・）】](?!$)"


def _last(end: str) -> re.Pattern[str]:
    # Greedy, so the last end is found first.
    return re.compile(f"(?s:.*)(?:{end})")


_LAST_PARAGRAPH_END = _last(_PARAGRAPH_END)
_LAST_ENDS = tuple(_last(end) for end in (_LINE_END, _SENTENCE_END, _ANY_LINE_END, _WORD_END, _PUNCTUATION))
_FIRST_PARAGRAPH_END, _FIRST_LINE_END = re.compile(_PARAGRAPH_END), re.compile(_LINE_END)
_FIRST_ENDS_WITHIN_LINE = (_FIRST_LINE_END, re.compile(_SENTENCE_END), re.compile(_WORD_END))
_NOT_SPACE = re.compile(r"\S")


class SectionChunk(NamedTuple):
    text: str
    page: int | None
    heading: str | None


class Chunker:
    """Cuts sections into chunks of at most `size` characters; each repeats up to `overlap` of the one before.

    A chunk ends with a paragraph if a quarter of it is filled by then, otherwise with the last line, sentence
    or word in its second half. The time is linear in the length of the text, whatever the text is.
    """

    def __init__(self, size: int, overlap: int) -> None:
        if not 0 <= overlap <= size // 2:
            raise ValueError("the overlap must be at most half of the size")
        self._size = size
        self._overlap = overlap

    def chunks(self, section: Section) -> Iterator[SectionChunk]:
        for text in self._texts(section.text):
            yield SectionChunk(text, section.page, section.heading)

    def _texts(self, text: str) -> Iterator[str]:
        length = len(text.rstrip())
        # What is before `fresh` was in the chunk before.
        start = fresh = _skip_space(text, 0)
        while fresh < length:
            end = self._find_end(text, start, fresh, length)
            yield text[start:end].rstrip()
            fresh = _skip_space(text, end)
            start = self._find_start(text, end, fresh)

    def _find_end(self, text: str, start: int, fresh: int, length: int) -> int:
        """Return where the chunk from `start` ends."""
        limit = start + self._size
        if limit >= length:
            return length
        least_length = (limit - fresh) // 4
        # The last chunk should not be a crumb.
        limit = min(limit, length - least_length)
        places = (
            (_LAST_PARAGRAPH_END, fresh + least_length),
            *((one, (fresh + limit) // 2) for one in _LAST_ENDS),
        )
        for pattern, earliest in places:
            # One more character shows what follows the last possible end.
            if found := pattern.match(text, earliest, limit + 1):
                return found.end()
        return grapheme_start(text, limit)

    def _find_start(self, text: str, end: int, fresh: int) -> int:
        """Return where the chunk after `end` starts, which is at most `overlap` before.

        Between paragraphs, only whole ones are repeated, and between lines whole lines; within a line, also
        sentences or words.
        """
        if _FIRST_PARAGRAPH_END.match(text, end):
            patterns: tuple[re.Pattern[str], ...] = (_FIRST_PARAGRAPH_END,)
        elif _FIRST_LINE_END.match(text, end):
            patterns = (_FIRST_LINE_END,)
        else:
            patterns = _FIRST_ENDS_WITHIN_LINE
        for pattern in patterns:
            found = pattern.search(text, max(end - self._overlap, 0), end)
            if found and found.end() < end:
                return _skip_space(text, found.end())
        return fresh


def _skip_space(text: str, position: int) -> int:
    found = _NOT_SPACE.search(text, position)
    return found.start() if found else len(text)
