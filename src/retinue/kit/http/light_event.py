"""An event light enough for every request and connection to have one."""

import asyncio


class LightEvent:
    """Like asyncio.Event, in a tenth of its memory."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self, *, is_set: bool = False) -> None:
        self._is_set = is_set
        self._waiting: tuple[asyncio.Future[None], ...] = ()

    def set(self) -> None:
        self._is_set = True
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def clear(self) -> None:
        self._is_set = False

    async def wait(self) -> None:
        if self._is_set:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting = (*self._waiting, waiter)
        try:
            await waiter
        finally:
            self._waiting = tuple(other for other in self._waiting if other is not waiter)
