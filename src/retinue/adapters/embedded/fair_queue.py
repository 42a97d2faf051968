"""A queue for a model's slots: requesters take turns, so that one with many calls delays no other."""

import asyncio
from collections import OrderedDict, deque

from retinue.adapters.llm.errors import ModelError


class FairQueue:
    def __init__(self, slots: int, longest: int) -> None:
        self._free = slots
        self._max_length = longest
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self.length = 0

    async def enter(self, requester: str) -> None:
        """Wait for a slot; the caller must release it with `leave`."""
        if self._free:
            self._free -= 1
            return
        if self.length >= self._max_length:
            raise ModelError("overloaded", "Too many requests wait for the embedded model. Try again later.")
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(requester, deque()).append(ticket)
        self.length += 1
        try:
            await ticket
        except asyncio.CancelledError:
            # The slot may have been granted at the moment of cancellation; pass it on.
            if ticket.done() and not ticket.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Pass the slot to the next requester in turn, or mark it free."""
        while self._waiting:
            requester, tickets = self._waiting.popitem(last=False)
            ticket = tickets.popleft()
            self.length -= 1
            if tickets:
                self._waiting[requester] = tickets
            if not ticket.done():
                ticket.set_result(None)
                return
        self._free += 1
