"""Text as it may be stored and searched: composed characters, plain line ends, nothing invisible."""

import re
import unicodedata

# Controls, soft hyphens, byte order marks and what is no character at all; tabs and line feeds stay.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]+"
)
_LINE_ENDS = re.compile("\r\n?|[\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
# Sorting a tower of accents takes the square of its height; no language stacks more than a few.
_ACCENTS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_TOWERS = re.compile(f"([{_ACCENTS}]{{30}})[{_ACCENTS}]+")
# Behind something: at the start of a line they are the shape of code and lists.
_GAPS = re.compile(r"(?<=\S)[ \t\xa0]{3,}")


def clean(text: str) -> str:
    text = _LINE_ENDS.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    text = _GAPS.sub("  ", text)
    text = _BLANK_LINES.sub("\n\n", text)
    return text if text.isascii() else unicodedata.normalize("NFC", _TOWERS.sub(r"\1", text))


def clean_line(text: str) -> str:
    """The same on one line, for headings and column names."""
    return " ".join(clean(text).split())
