"""Passwords: argon2id, hashed in a thread or two, because each takes real memory and time."""

import asyncio
import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from retinue.kit.errors import Invalid, Unavailable

LONGEST = 128
MOST_WAITING = 200

T = TypeVar("T")

_threads = ThreadPoolExecutor(2, thread_name_prefix="argon2")
_waiting = 0


@lru_cache(maxsize=8)
def _hasher(cost: tuple[int, ...]) -> PasswordHasher:
    memory_kib, passes, lanes = cost
    return PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=lanes)


@lru_cache(maxsize=8)
def _nobodys_hash(cost: tuple[int, ...]) -> str:
    """A hash in the stored form that no password has, so that checking one takes the usual time."""
    memory_kib, passes, lanes = cost
    salt, tag = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (16, 32))
    return f"$argon2id$v=19$m={memory_kib},t={passes},p={lanes}${salt}${tag}"


def check_rule(password: str, field: str = "password") -> None:
    """At least 8 characters with an upper-case letter, a lower-case letter and a number."""
    if len(password) > LONGEST:
        raise Invalid({field: f"must have at most {LONGEST} characters"})
    missing = []
    if len(password) < 8:
        missing.append("at least 8 characters")
    if not any(letter.isupper() for letter in password):
        missing.append("an uppercase letter")
    if not any(letter.islower() for letter in password):
        missing.append("a lowercase letter")
    if not any(letter.isdigit() for letter in password):
        missing.append("a number")
    if missing:
        raise Invalid({field: f"must have {', '.join(missing)}"})


async def hashed(password: str, cost: tuple[int, ...]) -> str:
    return await _in_thread(lambda: _hasher(cost).hash(password))


async def matches(stored: str | None, password: str, cost: tuple[int, ...]) -> bool:
    """Whether it is the password; without an account the same work is done for nothing."""
    return await _in_thread(lambda: _verify(stored, password, cost))


async def _in_thread(work: Callable[[], T]) -> T:
    """Beyond a queue of a few seconds it is kinder to refuse than to let everyone wait."""
    global _waiting  # noqa: PLW0603  one pool of threads in a process, and one count of who waits for it
    if _waiting >= MOST_WAITING:
        raise Unavailable("Too many people are signing in at this moment.", retry_after=2)
    _waiting += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, work)
    finally:
        _waiting -= 1


def _verify(stored: str | None, password: str, cost: tuple[int, ...]) -> bool:
    if len(password) > LONGEST:
        return False
    try:
        _hasher(cost).verify(stored or _nobodys_hash(cost), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def needs_rehash(stored: str, cost: tuple[int, ...]) -> bool:
    return _hasher(cost).check_needs_rehash(stored)
