"""Streaming of a response body while it is being produced."""

import asyncio
from collections.abc import AsyncIterator

import structlog

from retinue.kit.errors import RetinueError
from retinue.kit.http.bodies import Receive, Send

log = structlog.get_logger("retinue.http")


async def stream(
    send: Send,
    receive: Receive,
    chunks: AsyncIterator[bytes],
    *,
    status: int,
    headers: list[tuple[bytes, bytes]],
) -> None:
    """Send the chunks until they end or the client disconnects; close the producer before returning.

    An error of the producer before the first byte is raised here, so that it gets its own status. After a
    later error this returns with the response incomplete, and the server closes the connection.
    """
    pump = asyncio.create_task(_pump(send, chunks, status, headers))
    gone = asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait((pump, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        pump.cancel()
        await asyncio.wait((pump, gone))
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
    if not pump.cancelled():
        pump.result()


async def _pump(
    send: Send, chunks: AsyncIterator[bytes], status: int, headers: list[tuple[bytes, bytes]]
) -> None:
    first = await anext(chunks, b"")
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send(_body(first))
    try:
        async for chunk in chunks:
            await send(_body(chunk))
    except RetinueError as error:
        log.warning("body_interrupted", code=error.code, error=error.message)
    except Exception:
        log.exception("body_interrupted")
    else:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _body(chunk: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": chunk, "more_body": True}


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
