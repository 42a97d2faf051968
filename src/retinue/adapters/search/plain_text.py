"""Cleaning of untrusted text: no markup, no invisible characters, limited length."""

import html
import re
import unicodedata

# Much of the text beyond the limit may be markup.
_READ_AHEAD_FACTOR = 4
_TAG = re.compile(r"</?[a-z][^<>]*>|<[!?][^<>]*>", re.IGNORECASE)
# Parts of letters and emoji; other format characters could hide text from a reader.
_JOINERS = "\u200c\u200d"


def to_plain_text(text: str, limit: int) -> str:
    """Return the words of a text, which may be HTML, on one line, cut with an ellipsis."""
    words = _without_tags(html.unescape(_without_tags(text[: limit * _READ_AHEAD_FACTOR])))
    line = " ".join("".join(character for character in words if _is_shown(character)).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _without_tags(text: str) -> str:
    return _TAG.sub("", text) if "<" in text else text


def _is_shown(character: str) -> bool:
    if character.isascii():
        return character.isprintable() or character.isspace()
    return character in _JOINERS or not unicodedata.category(character).startswith("C")
