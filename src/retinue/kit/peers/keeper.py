"""The supervisor's end: it keeps the limits of all worker processes and passes their topics on.

A lease ends with the process that holds it. Nothing here survives the supervisor: after its end the limits
begin anew, as those of a single process do.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from retinue.kit.clock import Clock
from retinue.kit.limits import MemoryStore
from retinue.kit.peers.limit_store import decode_allowance
from retinue.kit.peers.messages import (
    ACQUIRE,
    DRAIN,
    HIT,
    MEMBERS,
    PUBLISH,
    READY,
    RELEASE,
    REPORT,
    USED,
    Message,
    decode_packet,
    encode_packets,
)
from retinue.kit.peers.packets import PacketSocket

log = structlog.get_logger("retinue.supervisor")

_MAX_UNSENT_PACKETS = 256
"""Topics are dropped for a process that leaves so much unread; the answers to its calls are not."""


class Member:
    """A worker process, as the keeper sees it."""

    def __init__(self, endpoint: PacketSocket, slot: int) -> None:
        self.slot = slot
        self.is_ready = False
        self.is_draining = False
        self.report: Any = {}
        self.leases: dict[str, str] = {}
        self.when_ready: Callable[[], None] = lambda: None
        self.when_gone: Callable[[], None] = lambda: None
        self.endpoint = endpoint

    @property
    def counts(self) -> bool:
        return self.is_ready and not self.is_draining


class Keeper:
    def __init__(self, clock: Clock) -> None:
        self._store = MemoryStore(clock)
        self._members: list[Member] = []

    def join(self, endpoint: PacketSocket, slot: int) -> Member:
        member = Member(endpoint, slot)
        self._members.append(member)
        asyncio.get_running_loop().add_reader(endpoint.fileno(), self._read, member)
        return member

    def drain(self, member: Member) -> None:
        """Ask a process to finish what it does and to end."""
        member.is_draining = True
        self._send(member, [(0, DRAIN)])
        self._tell_members()

    def close(self) -> None:
        """Part with all processes, which end without their supervisor."""
        for member in list(self._members):
            self._part(member)

    def _read(self, member: Member) -> None:
        packets = member.endpoint.receive()
        if packets is None:
            self._part(member)
            return
        try:
            answers = [
                answer
                for packet in packets
                for message in decode_packet(packet)
                if (answer := self._answer(member, *message)) is not None
            ]
        except (msgspec.MsgspecError, TypeError, ValueError):
            log.exception("peer_message_unreadable", slot=member.slot)
            return
        if answers:
            self._send(member, answers)

    def _answer(self, member: Member, call: int, operation: int, *arguments: Any) -> Message | None:
        if operation == HIT:
            return self._hit(call, *arguments)
        if operation == USED:
            return self._used(call, *arguments)
        if operation == ACQUIRE:
            return (call, self._acquire(member, *arguments))
        if operation == RELEASE:
            self._release(member, *arguments)
        elif operation == PUBLISH:
            self._publish(member, arguments)
        elif operation == REPORT:
            (member.report,) = arguments
            self._tell_members()
        elif operation == READY:
            member.is_ready = True
            self._tell_members()
            member.when_ready()
        return None

    def _hit(self, call: int, key: str, rules: bytes, cost: int) -> Message:
        decision = self._store.charge(key, decode_allowance(rules), cost)
        return (
            call,
            decision.allowed,
            decision.limit,
            decision.remaining,
            decision.reset,
            decision.window,
            decision.retry_after,
        )

    def _used(self, call: int, key: str) -> Message:
        used = self._store.used(key)
        return (call, used.minute, used.hour, used.day)

    def _acquire(self, member: Member, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        admitted = self._store.acquire(key, limit, lease_id, ttl)
        if admitted:
            member.leases[lease_id] = key
        return admitted

    def _release(self, member: Member, key: str, lease_id: str) -> None:
        member.leases.pop(lease_id, None)
        self._store.release(key, lease_id)

    def _publish(self, sender: Member, content: tuple[Any, ...]) -> None:
        for member in self._members:
            if member is not sender and member.endpoint.unsent_packets < _MAX_UNSENT_PACKETS:
                self._send(member, [(0, *content)])

    def _tell_members(self) -> None:
        """Tell every process how many serve, and what the first of them reported."""
        alive = sum(member.counts for member in self._members)
        first = [member.report for member in self._members if member.slot == 0 and member.counts]
        for member in self._members:
            self._send(member, [(0, MEMBERS, alive, first[-1] if first else {})])

    def _part(self, member: Member) -> None:
        asyncio.get_running_loop().remove_reader(member.endpoint.fileno())
        asyncio.get_running_loop().remove_writer(member.endpoint.fileno())
        member.endpoint.close()
        self._members.remove(member)
        for lease_id, key in member.leases.items():
            self._store.release(key, lease_id)
        member.is_ready = False
        self._tell_members()
        member.when_gone()

    def _send(self, member: Member, messages: list[Message]) -> None:
        for packet in encode_packets(messages):
            if not member.endpoint.send(packet):
                asyncio.get_running_loop().add_writer(member.endpoint.fileno(), self._flush, member)

    def _flush(self, member: Member) -> None:
        if member.endpoint.flush():
            asyncio.get_running_loop().remove_writer(member.endpoint.fileno())
