"""Identifiers and tokens: a prefix that names the kind, then randomness from the operating system."""

import base64
import functools
import hashlib
import os
import secrets
from os import urandom

from retinue.kit.clock import system_ticks

# In the order of their codes, so that letters sort as the numbers that they stand for.
_ALPHABET = b"234567abcdefghijklmnopqrstuvwxyz"
# Each random byte becomes one of 32 letters; 256 is a multiple of 32, so all are equally likely.
_LETTERS = bytes(_ALPHABET[byte & 31] for byte in range(256))
_LENGTH = 26
_TIME_LETTERS = 8
_TICK_NS = 1_000_000_000 // 64

_led_by_time: set[str] = set()
# The random ends of the next ids: to ask the operating system costs more than all the rest of an id.
_ends: list[str] = []
_ENDS_AT_ONCE = 64
# A copy of the process must not give out the same ones.
os.register_at_fork(after_in_child=_ends.clear)


def new_id(prefix: str) -> str:
    """A prefix and 26 base32 characters, opaque to everyone: 130 random bits, or 90 after the time."""
    if prefix not in _led_by_time:
        return f"{prefix}_{_random_letters(_LENGTH)}"
    # Whatever thread asks, `pop` gives each end once; to look first would be to look too early.
    try:
        end = _ends.pop()
    except IndexError:
        end = _made_ends()
    # Only a place in an index hangs on the time, so a clock that tests hold need not be given to everyone.
    return f"{prefix}_{_time_letters(system_ticks(_TICK_NS))}{end}"


def lead_by_time(prefix: str) -> None:
    """Let ids of this kind begin with the time, as is good for rows that come in great numbers.

    An index over them grows at one end. Random ones make every new row change a page of its own in each
    index, and the database writes whole pages (docs/adr/0017-ids-led-by-time.md).
    """
    _led_by_time.add(prefix)


def _made_ends() -> str:
    """One end, and a store of others."""
    length = _LENGTH - _TIME_LETTERS
    letters = _random_letters(length * _ENDS_AT_ONCE)
    end, *others = (letters[at : at + length] for at in range(0, len(letters), length))
    _ends.extend(others)
    return end


def _random_letters(count: int) -> str:
    return urandom(count).translate(_LETTERS).decode()


@functools.lru_cache(maxsize=4)
def _time_letters(ticks: int) -> str:
    digits = (ticks >> shift & 31 for shift in range(5 * (_TIME_LETTERS - 1), -1, -5))
    return bytes(_ALPHABET[digit] for digit in digits).decode()


def new_token() -> str:
    """256 random bits for a link or a refresh token, safe in URLs."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()


def hash_token(token: str) -> str:
    """How a token is stored: it has 256 random bits, so a plain hash is as good as a slow one."""
    return hashlib.sha256(token.encode()).hexdigest()
