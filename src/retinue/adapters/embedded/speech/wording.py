"""Text made ready to be said: without marks that nobody says, in pieces that are said in one go."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST_PIECE = 250
# Longer "words" are addresses, identifiers and attacks: reading one takes the cube of its length.
_LONGEST_WORD = 60

_LINK = re.compile(r"!?\[([^\[\]]{0,1000})\]\([^()]{0,2000}\)")
_CODE_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~).*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^[^\S\n]*(?:#{1,6}[^\S\n]+|>[^\S\n]?|[-*+][^\S\n]+)+", re.MULTILINE)
_RULE = re.compile(r"^[^\S\n]*(?:[-*_][^\S\n]*){3,}$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~|`+")
# Above quadrillions there are no words for a number; its digits are read one by one.
_ENDLESS_NUMBER = re.compile(r"\d{16,}")
_CLAUSE_END = re.compile(r"(?<=[,;:\u2013\u2014])\s+")


def plain(text: str) -> str:
    """The words of a Markdown text; a link is its text."""
    text = _RULE.sub("", _CODE_FENCE.sub("", unicodedata.normalize("NFC", text)))
    text = _LINE_MARK.sub("", _LINK.sub(r"\1", text))
    return _ENDLESS_NUMBER.sub(lambda found: " ".join(found.group()), _EMPHASIS.sub("", text))


def is_in_latin_script(text: str) -> bool:
    """Whether most letters are ones that an English voice can read; a text without letters may be numbers."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(_is_latin(letter) for letter in letters) >= len(letters)


def pieces(sentences: Iterable[str]) -> Iterator[str]:
    """The sentences, those that are too long for one breath divided where it is heard least."""
    for sentence in sentences:
        words = " ".join(_short_words(sentence))
        if words:
            yield from _divided(words)


def packed(parts: Iterable[str], most: int) -> Iterator[str]:
    """The parts again, as many of them together as fit into so many characters."""
    held = ""
    for part in parts:
        if held and len(held) + 1 + len(part) > most:
            yield held
            held = part
        else:
            held = f"{held} {part}" if held else part
    if held:
        yield held


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _short_words(sentence: str) -> Iterator[str]:
    for word in sentence.split():
        for start in range(0, len(word), _LONGEST_WORD):
            yield word[start : start + _LONGEST_WORD]


def _divided(sentence: str) -> Iterator[str]:
    if len(sentence) <= LONGEST_PIECE:
        yield sentence
        return
    clauses = [clause for clause in _CLAUSE_END.split(sentence) if clause]
    yield from packed((part for clause in clauses for part in _words_packed(clause)), LONGEST_PIECE)


def _words_packed(clause: str) -> Iterator[str]:
    return packed((clause,) if len(clause) <= LONGEST_PIECE else clause.split(), LONGEST_PIECE)
