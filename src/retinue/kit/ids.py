"""Identifiers and tokens: a prefix that names the kind, then randomness from the operating system."""

import base64
import functools
import hashlib
import os
import secrets
from os import urandom

from retinue.kit.clock import system_ticks

# In ASCII order, so that encoded numbers sort as the numbers do.
_ALPHABET = b"234567abcdefghijklmnopqrstuvwxyz"
# Each random byte becomes one of 32 letters; 256 is a multiple of 32, so all are equally likely.
_LETTERS = bytes(_ALPHABET[byte & 31] for byte in range(256))
# The digits of Python's numbers to the base of 32, and the letters of ids for the same numbers.
_AS_DIGITS = bytes.maketrans(_ALPHABET, b"0123456789abcdefghijklmnopqrstuv")
_LENGTH = 26
_TIME_LETTERS = 8
_TICK_NS = 1_000_000_000 // 64

_time_ordered_prefixes: set[str] = set()
# Random suffixes for the next ids: the system call costs more than the rest of building an id.
_random_suffixes: list[str] = []
_SUFFIX_BATCH_SIZE = 64
# A forked child must not hand out the same suffixes.
os.register_at_fork(after_in_child=_random_suffixes.clear)


def new_id(prefix: str) -> str:
    """Return a prefix and 26 opaque base32 characters: 130 random bits, or 90 after a timestamp."""
    if prefix not in _time_ordered_prefixes:
        return f"{prefix}_{_random_letters(_LENGTH)}"
    # `pop` is atomic across threads; checking the length first would be a race.
    try:
        suffix = _random_suffixes.pop()
    except IndexError:
        suffix = _refill_suffixes()
    # The timestamp only affects index locality, so the machine's clock will do.
    return f"{prefix}_{_time_letters(system_ticks(_TICK_NS))}{suffix}"


def is_whole_id(prefix: str, text: str) -> bool:
    """Return whether the text has the length of an id with this prefix, and not just its beginning."""
    return len(text) == len(prefix) + 1 + _LENGTH and text.startswith(f"{prefix}_")


def number_of(id: str) -> int:
    """Return the number that the letters after the prefix stand for, of 130 bits at most."""
    return int(id.rpartition("_")[2].encode().translate(_AS_DIGITS), 32)


def id_of_number(prefix: str, number: int) -> str:
    """Return the id whose `number_of` this is."""
    return f"{prefix}_{_letters(number, _LENGTH)}"


def use_time_ordered_ids(prefix: str) -> None:
    """Let ids with this prefix begin with a timestamp; use it for tables with many inserts.

    An index over such ids grows at one end. Random ids make every insert change a different page of each
    index, and the database writes whole pages (docs/adr/0017-time-ordered-ids.md).
    """
    _time_ordered_prefixes.add(prefix)


def _refill_suffixes() -> str:
    """Return one suffix and store the rest of the batch."""
    length = _LENGTH - _TIME_LETTERS
    letters = _random_letters(length * _SUFFIX_BATCH_SIZE)
    suffix, *others = (letters[at : at + length] for at in range(0, len(letters), length))
    _random_suffixes.extend(others)
    return suffix


def _random_letters(count: int) -> str:
    return urandom(count).translate(_LETTERS).decode()


@functools.lru_cache(maxsize=4)
def _time_letters(ticks: int) -> str:
    return _letters(ticks, _TIME_LETTERS)


def _letters(number: int, count: int) -> str:
    digits = (number >> shift & 31 for shift in range(5 * (count - 1), -1, -5))
    return bytes(_ALPHABET[digit] for digit in digits).decode()


def new_token() -> str:
    """Return 256 random bits as URL-safe text, for a link or a refresh token."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()


def hash_token(token: str) -> str:
    """Return the stored form of a token; with 256 random bits it needs no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()
