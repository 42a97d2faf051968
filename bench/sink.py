"""A receiver of webhooks that costs next to nothing and notes when each event came. `/hang` never answers.

python -m bench.sink PORT
"""

import asyncio
import json
import re
import sys
import time
from typing import cast

import uvloop

_EVENT = re.compile(rb"x-service-event-id: (\S+)", re.IGNORECASE)
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

arrivals: dict[str, float] = {}


class Sink(asyncio.Protocol):
    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no kind of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end]
            length = _LENGTH.search(head)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self._received) < size:
                return
            self._received = self._received[size:]
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"GET /arrivals"):
            body = json.dumps(arrivals).encode()
            self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            return
        if event := _EVENT.search(head):
            arrivals.setdefault(event[1].decode(), time.time())
        if not head.startswith(b"POST /hang"):
            self._transport.write(_OK)


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(int(sys.argv[1])))
