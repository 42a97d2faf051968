"""Normalization of text: composed characters, LF line ends, no invisible characters."""

import re
import unicodedata

# Controls, soft hyphens, byte order marks and noncharacters; tabs and line feeds stay.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]+"
)
_LINE_ENDS = re.compile("\r\n?|[\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
# Sorting stacked accents takes the square of their number; no language stacks more than a few.
_ACCENTS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_STACKED_ACCENTS = re.compile(f"([{_ACCENTS}]{{30}})[{_ACCENTS}]+")
# Only after other text: at the start of a line, gaps indent code and lists.
_WIDE_GAPS = re.compile(r"(?<=\S)[ \t\xa0]{3,}")


def normalize_text(text: str) -> str:
    text = _LINE_ENDS.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    text = _WIDE_GAPS.sub("  ", text)
    text = _BLANK_LINES.sub("\n\n", text)
    return text if text.isascii() else unicodedata.normalize("NFC", _STACKED_ACCENTS.sub(r"\1", text))


def normalize_line(text: str) -> str:
    """Normalize to one line, for headings and column names."""
    return " ".join(normalize_text(text).split())
