"""Password hashing with argon2id, in a few threads, because each hash takes real memory and time.

Hashes for anonymous callers (registration, password reset) have a separate thread and queue, so that they
never delay a sign-in.
"""

import asyncio
import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from retinue.auth.password_rules import MAX_PASSWORD_LENGTH, password_problem
from retinue.kit.clock import Clock
from retinue.kit.errors import Invalid, RateLimited, Unavailable

MAX_SIGN_INS_WAITING = 200
MAX_ANONYMOUS_WAITING = 50
_ANONYMOUS_RETRY_SECONDS = 2

T = TypeVar("T")


class _HashQueue:
    """Hashing threads, and the number of callers that use or wait for one."""

    def __init__(self, threads: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._threads = threads
        self._active = 0

    @property
    def waiting(self) -> int:
        return max(0, self._active - self._threads)

    async def run(self, work: Callable[[], T]) -> T:
        self._active += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        finally:
            self._active -= 1


_sign_in_queue = _HashQueue(2, "argon2")
_anonymous_queue = _HashQueue(1, "argon2-strangers")


@lru_cache(maxsize=8)
def _hasher(cost: tuple[int, ...]) -> PasswordHasher:
    memory_kib, passes, lanes = cost
    return PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=lanes)


@lru_cache(maxsize=8)
def _dummy_hash(cost: tuple[int, ...]) -> str:
    """Return a hash that no password matches, so that checking an unknown account takes the usual time."""
    memory_kib, passes, lanes = cost
    salt, tag = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (16, 32))
    return f"$argon2id$v=19$m={memory_kib},t={passes},p={lanes}${salt}${tag}"


def validate_password(password: str, field: str = "password") -> None:
    """Require at least 8 characters with an uppercase letter, a lowercase letter and a number."""
    problem = password_problem(password)
    if problem:
        raise Invalid({field: problem})


async def hash_password(password: str, cost: tuple[int, ...]) -> str:
    return await _run_in_sign_in_queue(lambda: _hasher(cost).hash(password))


async def hash_for_anonymous(password: str, cost: tuple[int, ...], clock: Clock) -> str:
    """Hash for a caller who is not signed in: one at a time, and without delaying a sign-in."""
    if _anonymous_queue.waiting >= MAX_ANONYMOUS_WAITING:
        raise RateLimited(
            limit=MAX_ANONYMOUS_WAITING,
            window=_ANONYMOUS_RETRY_SECONDS,
            retry_after=_ANONYMOUS_RETRY_SECONDS,
            reset=int(clock.time()) + _ANONYMOUS_RETRY_SECONDS,
            message=f"Too many people are registering. Try again in {_ANONYMOUS_RETRY_SECONDS} seconds.",
        )
    return await _anonymous_queue.run(lambda: _hasher(cost).hash(password))


async def verify_password(stored: str | None, password: str, cost: tuple[int, ...]) -> bool:
    """Return whether the password is right. Without an account, the same work is done for nothing."""
    return await _run_in_sign_in_queue(lambda: _verify(stored, password, cost))


async def _run_in_sign_in_queue(work: Callable[[], T]) -> T:
    """Refuse when the queue is a few seconds long, instead of making everyone wait."""
    if _sign_in_queue.waiting >= MAX_SIGN_INS_WAITING:
        raise Unavailable("Too many people are signing in right now. Try again in 2 seconds.", retry_after=2)
    return await _sign_in_queue.run(work)


def _verify(stored: str | None, password: str, cost: tuple[int, ...]) -> bool:
    if len(password) > MAX_PASSWORD_LENGTH:
        return False
    try:
        _hasher(cost).verify(stored or _dummy_hash(cost), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def needs_rehash(stored: str, cost: tuple[int, ...]) -> bool:
    return _hasher(cost).check_needs_rehash(stored)
