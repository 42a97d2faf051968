"""A single worker thread for an event loop, with less overhead than an executor."""

import asyncio
import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]
Settle = Callable[[Exception | None], None]


class CommitThread:
    """Runs work in the thread and reports the result on the event loop that submitted it."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[Work, Settle, asyncio.AbstractEventLoop] | None] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None

    def run(self, work: Work, settle: Settle) -> None:
        """Queue work; `settle` is then called with the error, or None on success."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="sqlite-commit", daemon=True)
            self._thread.start()
        self._queue.put((work, settle, asyncio.get_running_loop()))

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            work, settle, loop = item
            error: Exception | None = None
            try:
                work()
            except Exception as raised:  # noqa: BLE001  passed to `settle`
                error = raised
            loop.call_soon_threadsafe(settle, error)
            del item, work, settle, error

    def close(self) -> None:
        """Finish the queued work and stop the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
