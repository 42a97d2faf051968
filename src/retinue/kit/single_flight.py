"""One run for all who need the same result at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs in progress by key; callers that come while one is in progress get its result or its error."""

    def __init__(self) -> None:
        self._runs: dict[Hashable, _Run[T]] = {}

    async def run(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of `make`; it is cancelled when nobody waits for it any more."""
        run = self._runs.get(key)
        # A run that everybody has left is being cancelled, and its end is no result for a newcomer.
        if run is None or run.task.cancelling():
            task = asyncio.create_task(make())
            run = self._runs[key] = _Run(task)
            task.add_done_callback(lambda _: self._forget(key, task))
        return await run.result()

    def _forget(self, key: Hashable, task: "asyncio.Task[T]") -> None:
        run = self._runs.get(key)
        if run is not None and run.task is task:
            del self._runs[key]
        if not task.cancelled():
            # Retrieved here in case that everybody who waited has left.
            task.exception()


class _Run(Generic[T]):
    def __init__(self, task: "asyncio.Task[T]") -> None:
        self.task = task
        self._waiting = 0

    async def result(self) -> T:
        self._waiting += 1
        shared: Awaitable[T] = asyncio.shield(self.task)
        try:
            return await shared
        finally:
            self._waiting -= 1
            if not self._waiting and not self.task.done():
                self.task.cancel()
