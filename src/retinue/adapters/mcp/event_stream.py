"""Parsing of server-sent events."""

from collections.abc import AsyncIterator

import msgspec


class ServerEvent(msgspec.Struct):
    data: bytes = b""
    id: str | None = None
    retry_ms: int | None = None
    type: bytes = b"message"


async def read_events(lines: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
    """Yield each complete event; one cut off by the end of the stream is dropped, as the standard says."""
    event, data = ServerEvent(), list[bytes]()
    async for line in lines:
        if not line:
            event.data = b"\n".join(data)
            yield event
            event, data = ServerEvent(), []
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                data.append(value)
            case b"event":
                event.type = value
            case b"id" if value.isascii() and value.decode().isprintable():
                event.id = value.decode()
            case b"retry" if value.isdigit() and len(value) < 10:
                event.retry_ms = int(value)
