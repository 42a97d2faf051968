"""Calls to one provider with one key: the way out, its timeouts, and every failure as a ModelError."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from functools import cached_property
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from retinue.adapters.llm import faults
from retinue.adapters.llm.errors import ModelError, ModelTimeout
from retinue.adapters.llm.messages import Delta
from retinue.adapters.llm.reading import Reading
from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, Response, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.redaction import Redactor
from retinue.kit.secrets import Secret

MAX_ANSWER_BYTES = 32 * 1024 * 1024
JSON = "application/json"

_MAX_REFUSAL_BYTES = 64 * 1024
_REFUSAL_PATIENCE_S = 5.0
# A stream that is over ends at once, as it should, and leaves its connection open for the next request.
_LINGER_S = 0.25
# The first words are passed on at once, later ones as often as a screen shows something new.
_NAP_S = 1 / 60

_Read = TypeVar("_Read")


class Timeouts(msgspec.Struct, frozen=True):
    """`unstreamed_s` is the time for an answer that is finished before its first byte is sent."""

    connect_s: float = 5
    first_byte_s: float = 30
    between_chunks_s: float = 30
    unstreamed_s: float = 120
    total_s: float = 300


class Wire:
    def __init__(
        self,
        egress: Egress,
        headers: Mapping[str, str],
        key_header: tuple[str, str],
        key: Secret,
        timeouts: Timeouts,
    ) -> None:
        """`key_header` is the name of the header and what stands before the key in it."""
        self._egress = egress
        self._headers = headers
        self._key_header = key_header
        self._key = key
        self._timeouts = timeouts

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor([self._key.reveal()])

    def reported(self, error: Any) -> ModelError:
        """The error for an error object inside an answer."""
        return faults.reported(error, self._redactor)

    async def get(self, url: str, read: Callable[[bytes], _Read]) -> _Read:
        async with self._open("GET", url, first_byte_s=self._timeouts.first_byte_s) as response:
            return read(await response.read())

    async def post(
        self, url: str, content: bytes, read: Callable[[bytes], _Read], *, content_type: str = JSON
    ) -> _Read:
        """Send a request whose answer comes in one piece."""
        patience = self._timeouts.unstreamed_s
        async with self._open("POST", url, content, content_type, first_byte_s=patience) as response:
            return read(await response.read())

    async def stream(self, url: str, content: bytes, reading: Reading) -> AsyncGenerator[Delta, None]:
        """The deltas of a reply as they arrive; closing the generator hangs up."""
        async with self._open("POST", url, content, first_byte_s=self._timeouts.first_byte_s) as response:
            if JSON in response.headers.get("Content-Type", ""):
                if delta := reading.take_whole(await response.read()):
                    yield delta
            else:
                chunks = response.iter_bytes()
                try:
                    async for received in chunks:
                        for delta in reading.feed(received, as_one=response.nap_s > 0):
                            yield delta
                            response.nap_s = _NAP_S
                        if reading.is_over:
                            break
                except (EgressFailed, EgressTimeout):
                    if not reading.is_complete:
                        raise
                await _linger(chunks)
            for last in reading.finish():
                yield last

    async def stream_bytes(self, url: str, content: bytes) -> AsyncGenerator[bytes, None]:
        """An answer that is no text, as it arrives."""
        async with self._open("POST", url, content, first_byte_s=self._timeouts.unstreamed_s) as response:
            if response.headers.get("Content-Type", "").startswith((JSON, "text/")):
                raise ModelError("bad_answer", "It is text where sound was asked for.")
            async for chunk in response.iter_bytes():
                yield chunk

    def _open(
        self,
        method: str,
        url: str,
        content: bytes | None = None,
        content_type: str = JSON,
        *,
        first_byte_s: float,
    ) -> "_Answer":
        """An answer with a good status; what fails is a ModelError, or a destination that egress refuses."""
        request = self._egress.request(
            method,
            url,
            timeout_s=self._timeouts.total_s,
            headers=self._request_headers(content_type if content else ""),
            content=content,
            connect_timeout_s=self._timeouts.connect_s,
            answer_timeout_s=first_byte_s,
            stall_timeout_s=self._timeouts.between_chunks_s,
            max_bytes=MAX_ANSWER_BYTES,
            require_https=True,
        )
        return _Answer(self, request)

    async def refusal(self, response: Response) -> ModelError:
        body = await _beginning(response)
        return faults.refusal(response.status, response.headers, body, self._redactor)

    def _request_headers(self, content_type: str) -> dict[str, str]:
        headers = dict(self._headers)
        if content_type:
            headers["Content-Type"] = content_type
        if self._key:
            name, prefix = self._key_header
            headers[name] = prefix + self._key.reveal()
        return headers


class _Answer:
    """An answer while it is read; not a generator, which costs more."""

    __slots__ = ("_is_answered", "_request", "_wire")

    def __init__(self, wire: Wire, request: AbstractAsyncContextManager[Response]) -> None:
        self._wire = wire
        self._request = request
        self._is_answered = False

    async def __aenter__(self) -> Response:
        try:
            response = await self._request.__aenter__()
        except RetinueError as error:
            raise self._explained(error) from None
        self._is_answered = True
        if 200 <= response.status < 300:
            return response
        try:
            refusal = await self._wire.refusal(response)
        finally:
            await self._request.__aexit__(None, None, None)
        raise refusal

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._request.__aexit__(kind, error, trace)
        if isinstance(error, Exception):
            explained = self._explained(error)
            if explained is not error:
                raise explained from None

    def _explained(self, error: Exception) -> Exception:
        if isinstance(error, EgressTimeout):
            return ModelTimeout()
        if isinstance(error, EgressFailed):
            return ModelError("broken_stream" if self._is_answered else "unreachable", error.message)
        if isinstance(error, ResponseTooLarge):
            return ModelError("bad_answer", error.message)
        if isinstance(error, (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
            return ModelError("bad_answer", "It is not JSON of the expected form.")
        return error


async def _beginning(response: Response) -> bytes:
    """The first part of a refusal, or as much of it as comes soon."""
    body = bytearray()
    with suppress(TimeoutError, RetinueError):
        async with asyncio.timeout(_REFUSAL_PATIENCE_S):
            async for chunk in response.iter_bytes():
                body += chunk
                if len(body) >= _MAX_REFUSAL_BYTES:
                    break
    return bytes(body[:_MAX_REFUSAL_BYTES])


async def _linger(chunks: AsyncIterator[bytes]) -> None:
    """Read what follows the last event, which is nothing but the end of the answer."""
    with suppress(TimeoutError, RetinueError):
        async with asyncio.timeout(_LINGER_S):
            async for _ in chunks:
                pass
