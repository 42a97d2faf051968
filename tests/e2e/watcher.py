"""A client that checks whether the server stays healthy while others misbehave."""

import asyncio

from tests.e2e.load import call
from tests.e2e.processes import ServerProcess

MOST_EXIT_S = 12


class Watcher:
    """Polls the health; a server that others harm is slow or does not answer."""

    def __init__(self, server: ServerProcess) -> None:
        self._port = server.port
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> int:
        answers = 0
        while not self._stop.is_set():
            async with asyncio.timeout(5):
                status, _ = await call(self._port, "GET", "/health")
            assert status == 200
            answers += 1
            await asyncio.sleep(0.01)
        return answers

    async def finish(self) -> int:
        """Stop; return the number of answers. Fails if one was missing."""
        self._stop.set()
        return await self._task
