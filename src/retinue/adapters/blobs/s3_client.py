"""Signed calls to object storage, repeated after transient failures."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import quote, urlencode

import msgspec
import structlog

from retinue.adapters.aws_signing import EMPTY_PAYLOAD, payload_hash, sign_request
from retinue.adapters.blobs.s3_address import S3Address
from retinue.adapters.blobs.s3_roles import KeySource
from retinue.adapters.blobs.s3_xml import error_code
from retinue.adapters.blobs.store import StorageUnavailable
from retinue.kit.clock import Clock
from retinue.kit.connection_faults import describe_fault
from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, Response, ResponseTooLarge
from retinue.kit.errors import RetinueError

log = structlog.get_logger("retinue.files")

RETRY_DELAYS_SECONDS = (0.2, 1.0)
TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})
_CALL_TIMEOUT_SECONDS = 300.0
_STREAM_TIMEOUT_SECONDS = 12 * 3600.0
_MAX_RESPONSE_BYTES = 4 * 1024 * 1024


class S3Response(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def code(self) -> str:
        return error_code(self.content)


class S3Client:
    """Calls the storage; `pauses_s` are the delays before each further attempt."""

    def __init__(
        self,
        address: S3Address,
        keys: KeySource,
        egress: Egress,
        clock: Clock,
        pauses_s: tuple[float, ...] = RETRY_DELAYS_SECONDS,
    ) -> None:
        self._address = address
        self._keys = keys
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
    ) -> S3Response:
        """Return a response with an expected status; the operator must fix others, so they are logged."""
        content_hash = EMPTY_PAYLOAD if content is None else await asyncio.to_thread(payload_hash, content)
        reply = await self._attempt(method, key, query, content, content_hash)
        for pause_s in self.pauses_s:
            if isinstance(reply, S3Response) and reply.status not in TRANSIENT_STATUSES:
                break
            await asyncio.sleep(pause_s)
            reply = await self._attempt(method, key, query, content, content_hash)
        if isinstance(reply, RetinueError):
            log.error(
                "file_storage_unreachable",
                method=method,
                host=f"{self._address.host}:{self._address.port}",
                error=describe_fault(reply),
                setting="RETINUE_FILES_URL",
            )
            raise StorageUnavailable
        if reply.status not in expected:
            raise storage_refusal(method, reply.status, reply.code)
        return reply

    async def _attempt(
        self, method: str, key: str, query: Mapping[str, str] | None, content: bytes | None, content_hash: str
    ) -> S3Response | RetinueError:
        url = self._url(key, query)
        signed = await self._signed_headers(method, url, {}, content_hash)
        try:
            async with self._egress.request(
                method,
                url,
                timeout_s=_CALL_TIMEOUT_SECONDS,
                headers=signed,
                content=content,
                max_bytes=_MAX_RESPONSE_BYTES,
            ) as response:
                return S3Response(response.status, _lowercase_names(response.headers), await response.read())
        except (EgressFailed, EgressTimeout, ResponseTooLarge) as error:
            return error

    @asynccontextmanager
    async def stream(
        self, key: str, headers: Mapping[str, str], expected_bytes: int
    ) -> AsyncIterator[Response]:
        """Yield the response of one read while it arrives."""
        url = self._url(key, None)
        signed = await self._signed_headers("GET", url, headers, EMPTY_PAYLOAD)
        async with self._egress.request(
            "GET", url, timeout_s=_STREAM_TIMEOUT_SECONDS, headers=signed, max_bytes=expected_bytes
        ) as response:
            yield response

    def _url(self, key: str, query: Mapping[str, str] | None) -> str:
        path = f"/{quote(self._address.prefix + key, safe='/-_.~')}" if key else ""
        query_text = f"?{urlencode(query, quote_via=quote, safe='-_.~')}" if query else ""
        return f"{self._address.home}{path}{query_text}"

    async def _signed_headers(
        self, method: str, url: str, headers: Mapping[str, str], content_hash: str
    ) -> dict[str, str]:
        return sign_request(
            method,
            url,
            headers,
            content_hash,
            self._address.region,
            "s3",
            await self._keys.current(),
            self._clock.time(),
        )


def storage_refusal(method: str, status: int, code: str) -> StorageUnavailable:
    """Log a refusal for the operator: the bucket, its keys or its permissions are wrong."""
    log.error("file_storage_refused", method=method, status=status, code=code)
    return StorageUnavailable()


def _lowercase_names(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
