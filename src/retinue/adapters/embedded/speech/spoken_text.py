"""Preparation of text for speech: Markdown is removed, and long sentences are split."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

MAX_PIECE_LENGTH = 250
# Longer "words" are addresses, identifiers or attacks: reading time grows with the cube of the length.
_MAX_WORD_LENGTH = 60

_LINK = re.compile(r"!?\[([^\[\]]{0,1000})\]\([^()]{0,2000}\)")
_CODE_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~).*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^[^\S\n]*(?:#{1,6}[^\S\n]+|>[^\S\n]?|[-*+][^\S\n]+)+", re.MULTILINE)
_RULE = re.compile(r"^[^\S\n]*(?:[-*_][^\S\n]*){3,}$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~|`+")
# Numbers above quadrillions have no words; their digits are read one by one.
_ENDLESS_NUMBER = re.compile(r"\d{16,}")
_CLAUSE_END = re.compile(r"(?<=[,;:\u2013\u2014])\s+")


def strip_markdown(text: str) -> str:
    """Return the words of a Markdown text; links are replaced by their text."""
    text = _RULE.sub("", _CODE_FENCE.sub("", unicodedata.normalize("NFC", text)))
    text = _LINE_MARK.sub("", _LINK.sub(r"\1", text))
    return _ENDLESS_NUMBER.sub(lambda match: " ".join(match.group()), _EMPHASIS.sub("", text))


def is_in_latin_script(text: str) -> bool:
    """Return whether an English voice can read most letters; a text without letters may be numbers."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(_is_latin(letter) for letter in letters) >= len(letters)


def split_for_speech(sentences: Iterable[str]) -> Iterator[str]:
    """Yield the sentences, splitting those that are too long at clauses or words."""
    for sentence in sentences:
        words = " ".join(_short_words(sentence))
        if words:
            yield from _split_sentence(words)


def pack_words(parts: Iterable[str], max_length: int) -> Iterator[str]:
    """Join the parts with spaces into texts of at most `max_length` characters."""
    pending = ""
    for part in parts:
        if pending and len(pending) + 1 + len(part) > max_length:
            yield pending
            pending = part
        else:
            pending = f"{pending} {part}" if pending else part
    if pending:
        yield pending


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _short_words(sentence: str) -> Iterator[str]:
    for word in sentence.split():
        for start in range(0, len(word), _MAX_WORD_LENGTH):
            yield word[start : start + _MAX_WORD_LENGTH]


def _split_sentence(sentence: str) -> Iterator[str]:
    if len(sentence) <= MAX_PIECE_LENGTH:
        yield sentence
        return
    clauses = [clause for clause in _CLAUSE_END.split(sentence) if clause]
    yield from pack_words((part for clause in clauses for part in _pack_clause(clause)), MAX_PIECE_LENGTH)


def _pack_clause(clause: str) -> Iterator[str]:
    return pack_words((clause,) if len(clause) <= MAX_PIECE_LENGTH else clause.split(), MAX_PIECE_LENGTH)
