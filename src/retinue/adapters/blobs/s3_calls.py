"""Signed calls to object storage, repeated while it is only passingly unable to answer."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import quote, urlencode

import msgspec
import structlog

from retinue.adapters.aws_signing import EMPTY_PAYLOAD, payload_hash, sign
from retinue.adapters.blobs.s3_address import S3Address
from retinue.adapters.blobs.s3_answers import error_code
from retinue.adapters.blobs.store import StorageUnavailable
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, Response
from retinue.kit.errors import RetinueError

log = structlog.get_logger("retinue.files")

PAUSES_S = (0.2, 1.0)
PASSING = frozenset({429, 500, 502, 503, 504})
_CALL_S = 300.0
_STREAM_S = 12 * 3600.0
_MOST_ANSWER = 4 * 1024 * 1024


class Answered(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def code(self) -> str:
        return error_code(self.content)


class S3Calls:
    """`pauses_s` are the waits before each further attempt; so many attempts more than the first are made."""

    def __init__(
        self, address: S3Address, egress: Egress, clock: Clock, pauses_s: tuple[float, ...] = PAUSES_S
    ) -> None:
        self._address = address
        self._egress = egress
        self._clock = clock
        self.pauses_s = pauses_s

    async def call(
        self,
        method: str,
        key: str = "",
        query: Mapping[str, str] | None = None,
        content: bytes | None = None,
        *,
        expected: frozenset[int] = frozenset({200}),
    ) -> Answered:
        """An answer with an expected status; the storage's refusals are ours to mend, not the caller's."""
        hashed = EMPTY_PAYLOAD if content is None else await asyncio.to_thread(payload_hash, content)
        answered = await self._attempt(method, key, query, content, hashed)
        for pause_s in self.pauses_s:
            if isinstance(answered, Answered) and answered.status not in PASSING:
                break
            await asyncio.sleep(pause_s)
            answered = await self._attempt(method, key, query, content, hashed)
        if isinstance(answered, RetinueError):
            log.error("the file storage cannot be reached", method=method, error=answered.message)
            raise StorageUnavailable
        if answered.status not in expected:
            raise refused(method, answered.status, answered.code)
        return answered

    async def _attempt(
        self, method: str, key: str, query: Mapping[str, str] | None, content: bytes | None, hashed: str
    ) -> Answered | RetinueError:
        url = self._url(key, query)
        try:
            async with self._egress.request(
                method,
                url,
                timeout_s=_CALL_S,
                headers=self._signed(method, url, {}, hashed),
                content=content,
                max_bytes=_MOST_ANSWER,
            ) as response:
                return Answered(response.status, _lowered(response.headers), await response.read())
        except (EgressFailed, EgressTimeout) as error:
            return error

    @asynccontextmanager
    async def stream(self, key: str, headers: Mapping[str, str], most: int) -> AsyncIterator[Response]:
        """One attempt at reading, whose answer is read while it arrives."""
        url = self._url(key, None)
        signed = self._signed("GET", url, headers, EMPTY_PAYLOAD)
        async with self._egress.request(
            "GET", url, timeout_s=_STREAM_S, headers=signed, max_bytes=most
        ) as response:
            yield response

    def _url(self, key: str, query: Mapping[str, str] | None) -> str:
        path = f"/{quote(self._address.prefix + key, safe='/-_.~')}" if key else ""
        written = f"?{urlencode(query, quote_via=quote, safe='-_.~')}" if query else ""
        return f"{self._address.home}{path}{written}"

    def _signed(self, method: str, url: str, headers: Mapping[str, str], hashed: str) -> dict[str, str]:
        return sign(
            method,
            url,
            headers,
            hashed,
            self._address.region,
            "s3",
            self._address.keys,
            self._clock.time(),
        )


def refused(method: str, status: int, code: str) -> StorageUnavailable:
    """Logged for the operator: it is the bucket, its keys or its rights that are wrong."""
    log.error("the file storage refused a call", method=method, status=status, code=code)
    return StorageUnavailable()


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
