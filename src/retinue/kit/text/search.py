"""Case-insensitive substring search in every script, with the same results on both databases.

SQLite folds only ASCII, and the databases' extensions differ. The search text is therefore expanded to a
plain regular expression: each letter becomes the set of letters that fold to the same one (Unicode case
folding, after NFC). SQLite evaluates it with `sqlite_regexp`.
"""

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from itertools import chain
from typing import Any

# The ranges that contain characters with a case; East Asian characters are left out.
_CASED = (range(0x3000), range(0xA640, 0xAC00), range(0xFB00, 0xFFFF), range(0x10400, 0x1E944))


def fold_case(text: str) -> str:
    """Return a form in which texts that differ only by case or accent composition are equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@functools.cache
def _variants() -> dict[str, tuple[str, ...]]:
    """Return the other characters that fold to each letter, or to several letters (`ß` to `ss`)."""
    variants: defaultdict[str, set[str]] = defaultdict(set)
    for character in map(chr, chain.from_iterable(_CASED)):
        folded = fold_case(character)
        if folded != character:
            variants[folded].add(character)
    return {letters: tuple(sorted(others)) for letters, others in variants.items()}


@functools.cache
def _max_fold_length() -> int:
    return max(len(letters) for letters in _variants())


@functools.lru_cache(maxsize=1024)
def search_pattern(text: str) -> str:
    """Return a regular expression for Python and PostgreSQL that matches texts containing this one.

    It begins with a comment holding the folded text, which is all that `sqlite_regexp` needs for ASCII.
    """
    left = fold_case(text)
    parts = [f"(?#{left.encode().hex()})"]
    while left:
        length = next(
            (
                length
                for length in range(min(_max_fold_length(), len(left)), 1, -1)
                if left[:length] in _variants()
            ),
            1,
        )
        parts.append(_any_case(left[:length]))
        left = left[length:]
    return "".join(parts)


def _any_case(letters: str) -> str:
    if len(letters) == 1:
        return _letter(letters)
    plain = "".join(_letter(letter) for letter in letters)
    return f"(?:{'|'.join([plain, *_variants()[letters]])})"


def _letter(letter: str) -> str:
    written = [letter, *_variants().get(letter, ())]
    decomposed = {unicodedata.normalize("NFD", variant) for variant in written}.difference(written)
    # A character with case variants is a letter and needs no escape in brackets.
    composed = f"[{''.join(written)}]" if len(written) > 1 else _escaped(letter)
    return f"(?:{'|'.join([composed, *sorted(decomposed)])})" if decomposed else composed


def _escaped(text: str) -> str:
    """Escape ASCII punctuation only: a backslash gives letters and digits another meaning."""
    return "".join(
        f"\\{character}" if character.isascii() and not character.isalnum() else character
        for character in text
    )


@functools.lru_cache(maxsize=256)
def _prepared(pattern: str) -> tuple[str, Callable[[str], Any]]:
    wanted = bytes.fromhex(pattern[len("(?#") : pattern.index(")")]).decode()
    return wanted, re.compile(pattern).search


def sqlite_regexp(pattern: str, text: str | None) -> bool | None:
    """Implement SQLite's `REGEXP` for patterns made by `search_pattern`."""
    if text is None:
        return None
    wanted, search = _prepared(pattern)
    # Equivalent for ASCII text, and eight times as fast.
    return wanted in text.lower() if text.isascii() else search(text) is not None
