"""Cleaning and shortening of texts before they are sent."""

import bisect
import re
from collections.abc import Callable

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Line breaks and tabs are kept.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# MIME's encoding of other character sets in headers, which can hide a line break.
_ENCODED_WORD = re.compile(r"=\?(?=[^?\s]+\?[bq]\?)", re.IGNORECASE)


def one_line(text: str, max_length: int = 500) -> str:
    """Return text that is safe in a header: without line breaks, plain or encoded."""
    line = " ".join(_CONTROL.sub(" ", _without_surrogates(text)).split())
    return truncate(_ENCODED_WORD.sub("= ?", line), max_length, "…")


def clean_body(text: str) -> str:
    return _UNWRITABLE.sub("", _without_surrogates(text)).replace("\r\n", "\n")


def truncate(text: str, max_length: int, mark: str, *, escape: Callable[[str], str] = str) -> str:
    """Return the escaped text, cut before escaping so that no escape is split; `mark` shows the cut."""
    escaped = escape(text)
    if len(escaped) <= max_length:
        return escaped
    available = max_length - len(mark)
    kept = bisect.bisect_right(range(len(text)), available, key=lambda end: len(escape(text[:end]))) - 1
    return escape(text[: max(kept, 0)]) + mark


def with_subject(subject: str, text: str) -> str:
    """Combine both for channels that have no subject."""
    return text if not subject or text == subject else f"{subject}\n{text}"


def _without_surrogates(text: str) -> str:
    return text.encode(errors="replace").decode()
