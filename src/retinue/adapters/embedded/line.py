"""Waiting for a place at a model: those who ask take turns, so that one with many calls delays no other."""

import asyncio
from collections import OrderedDict, deque

from retinue.adapters.llm.errors import ModelError


class Line:
    def __init__(self, places: int, longest: int) -> None:
        self._free = places
        self._longest = longest
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self.length = 0

    async def enter(self, who: str) -> None:
        """Come back with a place, which `leave` gives up again."""
        if self._free:
            self._free -= 1
            return
        if self.length >= self._longest:
            raise ModelError("overloaded", "Too many requests wait for the embedded model; try again later.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        self.length += 1
        try:
            await turn
        except asyncio.CancelledError:
            # Whoever was called up in the same moment passes the place on.
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place to who waits longest among those who were not served last."""
        while self._waiting:
            who, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            self.length -= 1
            if turns:
                self._waiting[who] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
