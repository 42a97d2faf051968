"""A lean HTTP client: prebuilt requests over kept-alive connections, bounded in count."""

import asyncio
from functools import partial
from typing import Any


class Client(asyncio.Protocol):
    """One connection; sends the next request when an answer is complete."""

    def __init__(self, request: bytes, count: int, done: asyncio.Future[None]) -> None:
        self._request = request
        self._left = count
        self._done = done
        self._buffer = b""
        self._needs = -1
        self.bad = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._needs < 0:
            self._read_head()
        if (self._needs == 0 and self._buffer.endswith(b"0\r\n\r\n")) or (
            self._needs > 0 and len(self._buffer) >= self._needs
        ):
            self._finish()

    def _read_head(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        self.bad += not head.startswith(b"http/1.1 2")
        at = head.find(b"content-length: ")
        # A chunked answer is complete with its last chunk.
        self._needs = 0 if at < 0 else end + 4 + int(head[at + 16 :].partition(b"\r\n")[0])

    def _finish(self) -> None:
        self._buffer = b""
        self._needs = -1
        self._left -= 1
        if self._left:
            self._transport.write(self._request)
        else:
            self._transport.close()
            if not self._done.done():
                self._done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(error or ConnectionError("the server closed the connection"))


async def drive(port: int, request: bytes, count: int, connections: int = 8) -> int:
    """Send `count` requests; how many were not answered with a success."""
    loop = asyncio.get_running_loop()
    clients = []
    waiting = []
    for number in range(connections):
        share = count // connections + (number < count % connections)
        if not share:
            continue
        done: asyncio.Future[None] = loop.create_future()
        _, client = await loop.create_connection(partial(Client, request, share, done), "127.0.0.1", port)
        clients.append(client)
        waiting.append(done)
    await asyncio.wait_for(asyncio.gather(*waiting), 120)
    return sum(client.bad for client in clients)


def request_bytes(
    method: str, path: str, *, token: str = "", body: bytes = b"", content_type: str = "application/json"
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Accept: */*", "User-Agent: bench"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
