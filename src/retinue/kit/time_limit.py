"""A time limit that fails with the caller's own error."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def time_limit(timeout_s: float, failure: Exception) -> AsyncIterator[None]:
    """Cancel what runs for longer and raise the failure."""
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        raise failure from None
