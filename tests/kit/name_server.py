"""Calls by name in a network of our own, whose name server is far away, dead for some names, and lies.

Runs as a process in new namespaces (`test_egress_name_server.py`) and prints what it saw as JSON. A name
tells what its look-up meets: `far…` is answered after 20 ms, `dead…` never, `lying…` alternately with an
inner address and with the one that plays a public address.
"""

import asyncio
import contextlib
import json
import socket
import struct
import sys
import threading
import time
from types import SimpleNamespace

import uvloop

from retinue.kit.egress import Egress, EgressRefused, EgressTimeout
from retinue.kit.logging import current_request
from tests.kit.egress_listener import listening, listening_at_both, reply

PUBLIC, INNER = "127.0.0.2", "127.0.0.1"
A_RECORD = 1
DEAD_NAMES = 40


class NameServer(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 53))
        self.asked: list[str] = []
        self._lies = 0

    def run(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            name, kind = _question(query)
            self.asked.append(name)
            if name.startswith("far"):
                threading.Timer(0.02, self._answer, (query, client, kind, PUBLIC)).start()
            elif not name.startswith("dead"):
                self._answer(query, client, kind, self._address(name, kind))

    def _address(self, name: str, kind: int) -> str:
        if name.startswith("lying") and kind == A_RECORD:
            self._lies += 1
            return INNER if self._lies % 2 else PUBLIC
        return PUBLIC

    def _answer(self, query: bytes, client: tuple[str, int], kind: int, address: str) -> None:
        has_answer = kind == A_RECORD
        question = query[12 : query.index(b"\0", 12) + 5]
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, has_answer, 0, 0)
        record = b"\xc0\x0c" + struct.pack(">HHIH", A_RECORD, 1, 0, 4) + socket.inet_aton(address)
        self._socket.sendto(head + question + (record if has_answer else b""), client)


def _question(query: bytes) -> tuple[str, int]:
    labels, at = [], 12
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(labels), struct.unpack(">H", query[at + 1 : at + 3])[0]


async def call(egress: Egress, url: str, tenant_id: str, connect_timeout_s: float = 5) -> float:
    """Make a call on behalf of a tenant; return the seconds it took."""
    current_request.set(SimpleNamespace(principal=SimpleNamespace(tenant_id=tenant_id), has_effects=False))
    started = time.perf_counter()
    async with egress.request("GET", url, timeout_s=10, connect_timeout_s=connect_timeout_s) as response:
        await response.read()
    return time.perf_counter() - started


async def call_dead(egress: Egress, port: int, number: int) -> bool:
    """Return whether a call to a name that is never answered ended in time, with the right error."""
    started = time.perf_counter()
    try:
        await call(egress, f"http://dead{number}.test:{port}/", "ten_noisy", connect_timeout_s=2)
    except EgressTimeout as error:
        return "resolved in time" in str(error) and time.perf_counter() - started < 4
    return False


async def main() -> None:
    names = NameServer()
    names.start()
    seen: dict[str, object] = {}
    async with (
        listening(address=PUBLIC) as server,
        listening_at_both(reply(Connection="close"), PUBLIC, INNER) as (closing, canary),
        Egress([PUBLIC]) as egress,
    ):
        dead = [asyncio.create_task(call_dead(egress, server.port, number)) for number in range(DEAD_NAMES)]
        await asyncio.sleep(0.1)
        quick = [
            await call(egress, f"http://far{number}.test:{server.port}/", "ten_b") for number in range(20)
        ]
        seen["longest_s"] = max(quick)
        seen["dead_ended_in_time"] = sum(await asyncio.gather(*dead))

        names.asked.clear()
        started = time.perf_counter()
        for _ in range(1500):
            await call(egress, f"http://far.test:{server.port}/", "ten_b")
        seen["calls_per_second"] = round(1500 / (time.perf_counter() - started))
        seen["questions"] = len(names.asked)

        refused = 0
        for number in range(50):
            with contextlib.suppress(EgressRefused):
                await call(egress, f"http://lying{number // 10}.test:{closing.port}/", "ten_b")
                refused -= 1
            refused += 1
            egress._connector.resolver.forget(f"lying{number // 10}.test")
        seen["lies_refused"], seen["canary"] = refused, canary.connections
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
