"""An answer from outside, read under limits that hold while it arrives."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from retinue.kit.egress.decoding import decoder_for
from retinue.kit.egress.destination import Destination
from retinue.kit.egress.errors import EgressFailed, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError

if TYPE_CHECKING:
    import aiohttp

MAX_HEADER_BYTES = 64 * 1024

# Compressed data may be a little larger than what it unfolds to, but not by more than this.
_ENCODING_OVERHEAD = 64 * 1024


class Deadline:
    """The moment an exchange must be over, on the event loop's clock."""

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.at = self._loop.time() + seconds

    def remaining(self) -> float:
        return self.at - self._loop.time()

    def limit(self) -> asyncio.Timeout:
        """A timeout for one step, which ends with the exchange."""
        return asyncio.timeout_at(self.at)


def as_egress_error(error: Exception) -> RetinueError:
    """Our error for one of aiohttp's, whose own text may hold addresses and query strings."""
    import aiohttp

    if isinstance(error, TimeoutError):
        return EgressTimeout()
    messages = {
        aiohttp.ClientConnectorCertificateError: "The destination's certificate is not valid for this host.",
        aiohttp.ClientConnectorSSLError: "No secure connection to the destination could be made.",
        aiohttp.ClientConnectorError: "The destination could not be reached.",
        aiohttp.ClientPayloadError: "The destination's answer is cut off.",
        aiohttp.ClientResponseError: "The destination's answer is not valid HTTP or its header is too large.",
    }
    known = (message for kind, message in messages.items() if isinstance(error, kind))
    return EgressFailed(next(known, "The connection to the destination broke."))


class _StallWatch:
    """One timer for a whole body, however many chunks it has: a timer for each costs more than the chunk."""

    def __init__(self, stream: "aiohttp.StreamReader", deadline: Deadline, stall_timeout_s: float) -> None:
        self._stream = stream
        self._ends_at = deadline.at
        self._stall_timeout_s = stall_timeout_s
        self._loop = asyncio.get_running_loop()
        self._waiting_since: float | None = None
        self._timer = self._loop.call_later(min(stall_timeout_s, deadline.remaining()), self._look)

    def waiting(self) -> None:
        """The reader waits for the next chunk from now on."""
        self._waiting_since = self._loop.time()
        if self._waiting_since >= self._ends_at:
            raise EgressTimeout

    def arrived(self) -> None:
        """The reader has its chunk, and all the time it wants."""
        self._waiting_since = None

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        """Wake the reader with an error if it has waited too long, else look again when it could have."""
        now = self._loop.time()
        since = now if self._waiting_since is None else self._waiting_since
        patience = min(since + self._stall_timeout_s, self._ends_at) - now
        if patience > 0:
            self._timer = self._loop.call_later(patience, self._look)
        elif self._waiting_since is not None:
            self._stream.set_exception(EgressTimeout())


class Response:
    """Status and headers are there at once; the body is consumed once, whole or as it arrives."""

    def __init__(
        self,
        raw: "aiohttp.ClientResponse",
        destination: Destination,
        *,
        deadline: Deadline,
        stall_timeout_s: float,
        max_bytes: int,
    ) -> None:
        self.status: int = raw.status
        self.headers: Mapping[str, str] = raw.headers
        self.destination = destination
        self._raw = raw
        self._deadline = deadline
        self._stall_timeout_s = stall_timeout_s
        self._max_bytes = max_bytes

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.iter_bytes()])

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """The decoded body as it arrives; never more than the limit, not even for a moment."""
        decoder = decoder_for(self.headers.get("Content-Encoding", ""))
        taken = 0
        async for received in self._iter_received():
            for chunk in decoder.feed(received):
                taken += len(chunk)
                if taken > self._max_bytes:
                    raise ResponseTooLarge
                yield chunk
        decoder.finish()

    async def iter_lines(self) -> AsyncIterator[bytes]:
        """The decoded body line by line, without the line ends."""
        begun: list[bytes] = []
        async for chunk in self.iter_bytes():
            first, *others = chunk.split(b"\n")
            begun.append(first)
            for other in others:
                yield b"".join(begun).removesuffix(b"\r")
                begun = [other]
        if last := b"".join(begun):
            yield last.removesuffix(b"\r")

    async def _iter_received(self) -> AsyncIterator[bytes]:
        from aiohttp import ClientError

        stream = self._raw.content
        most = self._max_bytes + _ENCODING_OVERHEAD
        declared = self._raw.content_length
        if declared is not None and declared > most and not stream.at_eof():
            raise ResponseTooLarge
        received = 0
        watch = _StallWatch(stream, self._deadline, self._stall_timeout_s)
        try:
            while True:
                watch.waiting()
                chunk = await stream.readany()
                watch.arrived()
                if not chunk:
                    return
                received += len(chunk)
                if received > most:
                    raise ResponseTooLarge
                yield chunk
        except (ClientError, OSError) as error:
            raise as_egress_error(error) from None
        finally:
            watch.stop()
