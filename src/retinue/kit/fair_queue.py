"""A queue for few places: tenants take turns, then kinds of callers, then callers.

Many requests of one caller delay that caller's own, and another tenant's next one by no more than one turn.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

CallerClass = Literal["member", "service_account", "visitor", "job"]


class QueuedCaller(msgspec.Struct, frozen=True):
    """Who takes turns with whom; `caller_id` tells the callers of one class apart."""

    tenant_id: str = ""
    caller_class: CallerClass = "job"
    caller_id: str = ""

    @property
    def is_visitor(self) -> bool:
        return self.caller_class == "visitor"


NOBODY = QueuedCaller()


class QueueFull(Exception):
    """Too many calls of this tenant wait already."""


class _Ticket(msgspec.Struct, eq=False):
    requester: QueuedCaller
    granted: asyncio.Future[None]


class FairQueue:
    """Places that callers hold one at a time.

    `max_places_by_class` bounds how many places a kind of callers holds together, so that long work of jobs
    cannot keep everybody waiting.
    """

    def __init__(
        self,
        places: int,
        max_waiting: int,
        max_places_by_class: Mapping[CallerClass, int] | None = None,
    ) -> None:
        self._free = places
        self._max_waiting = max_waiting
        self._max_places = dict(max_places_by_class or {})
        self._held: dict[CallerClass, int] = {}
        self._waiting_by_tenant: dict[str, int] = {}
        self._turns = _Turns()

    @property
    def waiting(self) -> int:
        return sum(self._waiting_by_tenant.values())

    async def enter(self, requester: QueuedCaller) -> Callable[[], None]:
        """Wait for a place and return the function that gives it back, which may be called once.

        Raises `QueueFull` if too many calls of the tenant wait.
        """
        if self._has_place(requester):
            return self._take(requester)
        waiting = self._waiting_by_tenant.get(requester.tenant_id, 0)
        if waiting >= self._max_waiting:
            raise QueueFull
        self._waiting_by_tenant[requester.tenant_id] = waiting + 1
        ticket = _Ticket(requester, asyncio.get_running_loop().create_future())
        self._turns.add(ticket)
        try:
            await ticket.granted
        except asyncio.CancelledError:
            if ticket.granted.done() and not ticket.granted.cancelled():
                # The place was granted at the moment of cancellation; pass it on.
                self._release(requester)
            elif self._turns.remove(ticket):
                self._count_out(requester)
            raise
        return self._release_of(requester)

    def _has_place(self, requester: QueuedCaller) -> bool:
        limit = self._max_places.get(requester.caller_class)
        return self._free > 0 and (limit is None or self._held.get(requester.caller_class, 0) < limit)

    def _take(self, requester: QueuedCaller) -> Callable[[], None]:
        self._free -= 1
        self._held[requester.caller_class] = self._held.get(requester.caller_class, 0) + 1
        return self._release_of(requester)

    def _release_of(self, requester: QueuedCaller) -> Callable[[], None]:
        def release() -> None:
            self._release(requester)

        return release

    def _release(self, requester: QueuedCaller) -> None:
        self._free += 1
        self._held[requester.caller_class] -= 1
        while (ticket := self._turns.next(self._has_place)) is not None:
            self._count_out(ticket.requester)
            if ticket.granted.cancelled():
                # Its task was cancelled and has not run since; the place goes to the next one.
                continue
            self._take(ticket.requester)
            ticket.granted.set_result(None)

    def _count_out(self, requester: QueuedCaller) -> None:
        left = self._waiting_by_tenant.pop(requester.tenant_id) - 1
        if left:
            self._waiting_by_tenant[requester.tenant_id] = left


_LEVELS: tuple[Callable[[QueuedCaller], str], ...] = (
    lambda requester: requester.tenant_id,
    lambda requester: requester.caller_class,
    lambda requester: requester.caller_id,
)


class _Turns:
    """The waiting tickets of one level: groups take turns, and those inside a group as well."""

    def __init__(self, level: int = 0) -> None:
        self._level = level
        self._groups: OrderedDict[str, _Turns] = OrderedDict()
        self._tickets: deque[_Ticket] = deque()

    @property
    def is_empty(self) -> bool:
        return not self._groups and not self._tickets

    def add(self, ticket: _Ticket) -> None:
        if self._level == len(_LEVELS):
            self._tickets.append(ticket)
            return
        name = _LEVELS[self._level](ticket.requester)
        if name not in self._groups:
            self._groups[name] = _Turns(self._level + 1)
        self._groups[name].add(ticket)

    def next(self, is_admitted: Callable[[QueuedCaller], bool]) -> _Ticket | None:
        """Remove and return the ticket whose turn it is among those that may have a place now."""
        if self._tickets and is_admitted(self._tickets[0].requester):
            return self._tickets.popleft()
        for name, group in self._groups.items():
            ticket = group.next(is_admitted)
            if ticket is not None:
                self._groups.move_to_end(name)
                self._drop_if_empty(name)
                return ticket
        return None

    def remove(self, ticket: _Ticket) -> bool:
        """Remove a ticket; return False if it is no longer there."""
        if self._level == len(_LEVELS):
            was_waiting = ticket in self._tickets
            if was_waiting:
                self._tickets.remove(ticket)
            return was_waiting
        name = _LEVELS[self._level](ticket.requester)
        if name not in self._groups:
            return False
        was_waiting = self._groups[name].remove(ticket)
        self._drop_if_empty(name)
        return was_waiting

    def _drop_if_empty(self, name: str) -> None:
        if self._groups[name].is_empty:
            del self._groups[name]
