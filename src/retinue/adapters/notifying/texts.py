"""Texts on their way out: one line where only one has room, and cut with a mark where there is a limit."""

import bisect
import re
from collections.abc import Callable

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Line breaks and tabs are part of a text.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# A header's own escape for text in another character set, which can hide a line break.
_ENCODED_WORD = re.compile(r"=\?(?=[^?\s]+\?[bq]\?)", re.IGNORECASE)


def one_line(text: str, longest: int = 500) -> str:
    """A text that can stand in a header: no line break, neither plain nor encoded."""
    line = " ".join(_CONTROL.sub(" ", _without_surrogates(text)).split())
    return shortened(_ENCODED_WORD.sub("= ?", line), longest, "…")


def body(text: str) -> str:
    return _UNWRITABLE.sub("", _without_surrogates(text)).replace("\r\n", "\n")


def shortened(text: str, longest: int, mark: str, *, escape: Callable[[str], str] = str) -> str:
    """The escaped text, cut before escaping so that no escape is cut in two; the mark tells of the cut."""
    escaped = escape(text)
    if len(escaped) <= longest:
        return escaped
    room = longest - len(mark)
    kept = bisect.bisect_right(range(len(text)), room, key=lambda end: len(escape(text[:end]))) - 1
    return escape(text[: max(kept, 0)]) + mark


def titled(subject: str, text: str) -> str:
    """Both in one text, for ways that know no subject."""
    return text if not subject or text == subject else f"{subject}\n{text}"


def _without_surrogates(text: str) -> str:
    return text.encode(errors="replace").decode()
