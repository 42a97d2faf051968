"""HTTP calls to one provider with one key; every failure becomes a ModelError."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import TypeVar

import msgspec

from retinue.adapters.api_client import JSON_CONTENT_TYPE, ApiBody, ApiClient, OpenResponse
from retinue.adapters.error_bodies import read_error_body
from retinue.adapters.llm import provider_errors
from retinue.adapters.llm.errors import ModelError, ModelTimeout
from retinue.adapters.llm.messages import Delta
from retinue.adapters.llm.reply_parser import ReplyParser
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, Response, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

MAX_RESPONSE_BYTES = 32 * 1024 * 1024

# A finished stream usually closes at once; waiting for that lets the connection be reused.
_LINGER_SECONDS = 0.25
# ADR 19: the first words are passed on at once, later ones at the rate of a screen.
_BATCH_DELAY_SECONDS = 1 / 60

_Read = TypeVar("_Read")


class Timeouts(msgspec.Struct, frozen=True):
    """`unstreamed_s` applies to responses that are complete before their first byte is sent."""

    connect_s: float = 5
    first_byte_s: float = 120
    between_chunks_s: float = 120
    unstreamed_s: float = 120
    total_s: float = 300


class ModelTransport(ApiClient):
    def __init__(
        self,
        egress: Egress,
        headers: Mapping[str, str],
        key_header: tuple[str, str],
        key: Secret,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        """`key_header` is the header's name and the prefix before the key."""
        super().__init__(
            egress,
            [key],
            timeout_s=timeouts.total_s,
            max_bytes=MAX_RESPONSE_BYTES,
            connect_timeout_s=timeouts.connect_s,
            stall_timeout_s=timeouts.between_chunks_s,
            headers=headers,
        )
        self._key_header = key_header
        self._key = key
        self._clock = clock
        self._timeouts = timeouts

    async def get(self, url: str, read: Callable[[bytes], _Read]) -> _Read:
        timeout_s = self._timeouts.first_byte_s
        return await self.call("GET", url, read, headers=self._authorization(), answer_timeout_s=timeout_s)

    async def post(self, url: str, body: ApiBody, read: Callable[[bytes], _Read]) -> _Read:
        """Send a request whose response is not streamed."""
        timeout_s = self._timeouts.unstreamed_s
        return await self.call("POST", url, read, body, self._authorization(), answer_timeout_s=timeout_s)

    async def stream(self, url: str, body: ApiBody, parser: ReplyParser) -> AsyncGenerator[Delta, None]:
        """Yield the deltas of a reply as they arrive; closing the generator hangs up."""
        async with self._post(url, body, first_byte_s=self._timeouts.first_byte_s) as response:
            if JSON_CONTENT_TYPE in response.headers.get("Content-Type", ""):
                if delta := parser.parse_whole(await response.read()):
                    yield delta
            else:
                chunks = response.iter_bytes()
                try:
                    async for received in chunks:
                        for delta in parser.feed(received, as_one=response.nap_s > 0):
                            yield delta
                            response.nap_s = _BATCH_DELAY_SECONDS
                        if parser.is_over:
                            break
                except (EgressFailed, EgressTimeout):
                    if not parser.is_complete:
                        raise
                await _linger(chunks)
            for last in parser.finish():
                yield last

    async def stream_bytes(self, url: str, body: ApiBody) -> AsyncGenerator[bytes, None]:
        """Yield a binary response as it arrives."""
        async with self._post(url, body, first_byte_s=self._timeouts.unstreamed_s) as response:
            if response.headers.get("Content-Type", "").startswith((JSON_CONTENT_TYPE, "text/")):
                raise ModelError("bad_answer", "It is text, but audio was requested.")
            async for chunk in response.iter_bytes():
                yield chunk

    def reported(self, error: object) -> ModelError:
        """Return the error for an error object inside a response."""
        return provider_errors.error_from_object(error, self.quote)

    def translate_failure(self, error: Exception) -> Exception:
        if isinstance(error, EgressRefused):
            # The address is at fault, not the provider.
            return error
        if isinstance(error, EgressTimeout):
            return ModelTimeout()
        if isinstance(error, EgressFailed):
            return ModelError("unreachable", error.message)
        if isinstance(error, ResponseTooLarge):
            return ModelError("bad_answer", error.message)
        return ModelError("bad_answer", "It is not the expected JSON.")

    def translate_broken_response(self, error: Exception) -> Exception:
        if isinstance(error, EgressFailed):
            return ModelError("broken_stream", error.message)
        return self.translate_failure(error)

    async def check_status(self, response: Response) -> None:
        body = await read_error_body(response)
        raise provider_errors.error_from_response(
            response.status, response.headers, body, self.quote, now=self._clock.time()
        )

    def _post(self, url: str, body: ApiBody, *, first_byte_s: float) -> OpenResponse:
        return self.open("POST", url, body, self._authorization(), answer_timeout_s=first_byte_s)

    def _authorization(self) -> dict[str, str]:
        if not self._key:
            return {}
        name, prefix = self._key_header
        return {name: prefix + self._key.reveal()}


async def _linger(chunks: AsyncIterator[bytes]) -> None:
    """Read up to the end of the response after its last event."""
    with suppress(TimeoutError, RetinueError):
        async with asyncio.timeout(_LINGER_SECONDS):
            async for _ in chunks:
                pass
