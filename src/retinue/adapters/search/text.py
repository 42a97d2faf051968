"""Text of strangers made plain: no markup, no invisible characters, no more than fits."""

import html
import re
import unicodedata

# What is cut off may be markup for the most part.
_READ_FOR_EACH_KEPT = 4
_TAG = re.compile(r"</?[a-z][^<>]*>|<[!?][^<>]*>", re.IGNORECASE)
# Parts of letters and of emoji; every other format character can hide text from the reader of an answer.
_JOINERS = "\u200c\u200d"


def plain(text: str, limit: int) -> str:
    """The words of a text, which may be HTML, on one line; what is cut off ends in an ellipsis."""
    words = _without_tags(html.unescape(_without_tags(text[: limit * _READ_FOR_EACH_KEPT])))
    line = " ".join("".join(character for character in words if _is_shown(character)).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _without_tags(text: str) -> str:
    return _TAG.sub("", text) if "<" in text else text


def _is_shown(character: str) -> bool:
    if character.isascii():
        return character.isprintable() or character.isspace()
    return character in _JOINERS or not unicodedata.category(character).startswith("C")
