"""One thread that does one thing after another for an event loop, with less ado than an executor."""

import asyncio
import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]
Settle = Callable[[Exception | None], None]


class Committer:
    """Work is done in the thread, and what came of it is told on the event loop that asked."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Work, Settle, asyncio.AbstractEventLoop] | None] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None

    def run(self, work: Work, settle: Settle) -> None:
        """Do this after all that was asked for before; `settle` hears the error, or that there is none."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="sqlite-commit", daemon=True)
            self._thread.start()
        self._asked.put((work, settle, asyncio.get_running_loop()))

    def _serve(self) -> None:
        while (asked := self._asked.get()) is not None:
            work, settle, loop = asked
            error: Exception | None = None
            try:
                work()
            except Exception as raised:  # noqa: BLE001  handed to the one who asked
                error = raised
            loop.call_soon_threadsafe(settle, error)
            del asked, work, settle, error

    def close(self) -> None:
        """Wait until everything is done."""
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join()
            self._thread = None
