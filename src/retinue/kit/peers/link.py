"""A worker process's end of the socket pair: calls to the supervisor, and topics of the other processes."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from retinue.kit.limits import LimitsUnreachable
from retinue.kit.peers.base import FirstReport, Peers
from retinue.kit.peers.limit_store import KeptLimits
from retinue.kit.peers.messages import (
    DRAIN,
    MEMBERS,
    PUBLISH,
    READY,
    REPORT,
    Message,
    decode_packet,
    encode_packets,
)
from retinue.kit.peers.packets import PacketSocket

CALL_SECONDS = 3.0
"""A call that the supervisor has not answered after once or twice this time has failed."""
_OUTAGE_SECONDS = 10.0

log = structlog.get_logger("retinue.limits")


class PeerLink(Peers):
    """Calls of one turn of the event loop leave as one packet: a packet each would double their cost."""

    def __init__(self, endpoint: PacketSocket, *, slot: int = 0, expected: int, opened_at: str) -> None:
        self.slot = slot
        self.expected = expected
        self.alive = 0
        self.opened_at = opened_at
        self.limits = KeptLimits(self)
        self.when_drained: Callable[[], None] = lambda: None
        self.when_lost: Callable[[], None] = lambda: None
        self._endpoint = endpoint
        self._loop = asyncio.get_running_loop()
        self._messages: list[Message] = []
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._last_call = 0
        self._overdue_from = 0
        self._timer: asyncio.TimerHandle | None = None
        self._topics: defaultdict[str, list[Callable[[str], None]]] = defaultdict(list)
        self._reported: FirstReport | None = None
        self._is_lost = False
        self._silent_until = 0.0
        self._loop.add_reader(endpoint.fileno(), self._read)

    async def call(self, operation: int, *arguments: Any) -> Any:
        """Return the supervisor's answer; raise `LimitsUnreachable` if there is none in time."""
        if self._is_lost or (self._silent_until and self._loop.time() < self._silent_until):
            raise LimitsUnreachable("the supervisor does not answer")
        self._last_call = number = self._last_call + 1
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._calls[number] = answer
        if self._timer is None:
            self._overdue_from = number
            self._timer = self._loop.call_later(CALL_SECONDS, self._check_calls)
        self.tell(number, operation, *arguments)
        return await answer

    def tell(self, *message: Any) -> None:
        if self._is_lost:
            return
        if not self._messages:
            self._loop.call_soon(self._send)
        self._messages.append(message)

    def publish(self, topic: str, *keys: str) -> None:
        self.tell(0, PUBLISH, topic, *keys)

    def subscribe(self, topic: str, notify: Callable[[str], None]) -> None:
        self._topics[topic].append(notify)

    def report(self, status: FirstReport) -> None:
        if self.slot == 0 and status != self._reported:
            self._reported = status
            self.tell(0, REPORT, status)

    def report_ready(self) -> None:
        self.tell(0, READY)

    @property
    def is_closed(self) -> bool:
        return self._endpoint.fileno() < 0

    def close(self) -> None:
        self._send()
        self._loop.remove_reader(self._endpoint.fileno())
        self._loop.remove_writer(self._endpoint.fileno())
        self._lose("this process is stopping")
        self._endpoint.close()

    def _send(self) -> None:
        if not self._messages or self._is_lost:
            return
        messages, self._messages = self._messages, []
        for packet in encode_packets(messages):
            if not self._endpoint.send(packet):
                self._loop.add_writer(self._endpoint.fileno(), self._flush)

    def _flush(self) -> None:
        if self._endpoint.flush():
            self._loop.remove_writer(self._endpoint.fileno())

    def _read(self) -> None:
        packets = self._endpoint.receive()
        if packets is None and not self._is_lost:
            self._loop.remove_reader(self._endpoint.fileno())
            self._lose("the supervisor is gone")
            self.when_lost()
        for packet in packets or ():
            self._silent_until = 0.0
            for number, *content in decode_packet(packet):
                if number == 0:
                    self._notify(*content)
                elif (answer := self._calls.pop(number, None)) is not None and not answer.done():
                    answer.set_result(content)

    def _notify(self, topic: str, *content: Any) -> None:
        if topic == MEMBERS:
            self.alive = content[0]
            self.first_report = msgspec.convert(content[1], FirstReport)
        elif topic == DRAIN:
            self.when_drained()
        else:
            for notify in self._topics.get(topic, ()):
                for key in content:
                    notify(key)

    def _check_calls(self) -> None:
        """Fail the calls that were waiting at the last check already; the oldest is the first."""
        self._timer = None
        # After a blocked event loop the answers may have arrived unread.
        self._read()
        while self._calls:
            oldest = next(iter(self._calls))
            if oldest > self._overdue_from:
                break
            answer = self._calls.pop(oldest)
            if not answer.done():
                answer.set_exception(LimitsUnreachable("the supervisor does not answer"))
                self._begin_outage()
        if self._calls:
            self._overdue_from = self._last_call
            self._timer = self._loop.call_later(CALL_SECONDS, self._check_calls)

    def _begin_outage(self) -> None:
        if not self._silent_until:
            log.warning("supervisor_silent", instead="limits of this process")
        self._silent_until = self._loop.time() + _OUTAGE_SECONDS

    def _lose(self, reason: str) -> None:
        self._is_lost = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        calls, self._calls = self._calls, {}
        for answer in calls.values():
            if not answer.done():
                answer.set_exception(LimitsUnreachable(reason))
