"""Retries a unit of work from the start after the database rolled it back.

The database resolves a deadlock by rolling back one transaction; the lock order (docs/architecture.md) makes
that rare, retrying makes it harmless. Work that called another service or committed in between has side
effects and is not retried as a whole (docs/adr/0022-rolled-back-work-is-repeated.md).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from retinue.kit.db.errors import RolledBack
from retinue.kit.logging import current_request

log = structlog.get_logger("retinue.repetition")

T = TypeVar("T")

MAX_ATTEMPTS = 8
_FIRST_BACKOFF_SECONDS = 0.01
_MAX_BACKOFF_SECONDS = 0.3


def backoff_seconds(attempt: int) -> float:
    """Return the delay before the next attempt, with jitter so that two rivals do not collide again."""
    longest: float = min(_FIRST_BACKOFF_SECONDS * 2.0**attempt, _MAX_BACKOFF_SECONDS)
    return random.uniform(0.2, 1) * longest  # noqa: S311  not a secret


def mark_side_effect() -> None:
    """Record that the current request or job did something that a retry would do twice."""
    request = current_request.get()
    if request is not None:
        request.has_effects = True


async def retry_on_rollback(
    attempt: Callable[[], Awaitable[T]], *, has_effects: Callable[[], bool] | None = None
) -> T:
    """Return the result of the attempt, which must begin and end its own transaction each time."""
    for number in range(1, MAX_ATTEMPTS):
        try:
            return await attempt()
        except RolledBack:
            if has_effects is not None and has_effects():
                raise
            log.info("repeated", attempt=number)
            await asyncio.sleep(backoff_seconds(number))
    return await attempt()
