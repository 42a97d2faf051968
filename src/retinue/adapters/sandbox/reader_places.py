"""Admission of the processes that read untrusted files: pictures, documents, recordings, large YAML.

Each may use 512 MB, so two of them fit beside the server in 2 GB. All kinds share the two places; tenants
take turns, then kinds of callers. Neither visitors nor jobs hold both, so a member waits for one conversion
at most before it is their tenant's turn (ADR 40).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from retinue.kit.errors import Unavailable
from retinue.kit.fair_queue import FairQueue, QueuedCaller, QueueFull

MAX_WAIT_SECONDS = 60.0
# A job has no client that waits, and is repeated if it fails.
MAX_JOB_WAIT_SECONDS = 600.0

_PLACES = 2
_MAX_WAITING_PER_TENANT = 64
_RETRY_AFTER_SECONDS = 5


class ReadersBusy(Unavailable):
    """Too many files are being converted at the moment. Try again in a few seconds."""

    def __init__(self) -> None:
        super().__init__(retry_after=_RETRY_AFTER_SECONDS)


def new_places() -> FairQueue:
    return FairQueue(_PLACES, _MAX_WAITING_PER_TENANT, {"visitor": 1, "job": 1})


_places = new_places()


@contextlib.asynccontextmanager
async def reader_place(requester: QueuedCaller) -> AsyncIterator[None]:
    """Hold a place for one reading process; raise `ReadersBusy` if none becomes free in time."""
    max_wait = MAX_JOB_WAIT_SECONDS if requester.caller_class == "job" else MAX_WAIT_SECONDS
    try:
        async with asyncio.timeout(max_wait):
            leave = await _places.enter(requester)
    except (TimeoutError, QueueFull):
        raise ReadersBusy from None
    try:
        yield
    finally:
        leave()
