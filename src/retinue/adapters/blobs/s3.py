"""Blobs as objects in a bucket of any storage that supports S3 and version 4 signatures."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from retinue.adapters.blobs.s3_address import S3Address
from retinue.adapters.blobs.s3_client import (
    RETRY_DELAYS_SECONDS,
    TRANSIENT_STATUSES,
    S3Client,
    storage_refusal,
)
from retinue.adapters.blobs.s3_roles import keys_for
from retinue.adapters.blobs.s3_xml import InvalidStorageResponse, S3Document, parse_s3_xml
from retinue.adapters.blobs.store import BlobMissing, StorageUnavailable, is_key, require_key
from retinue.kit.clock import Clock, SystemClock
from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, Response, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.settings import Settings

# Larger files are uploaded in parts of this size, each in memory; storage requires at least 5 MiB.
PART_BYTES = 8 * 1024 * 1024
# Limits the parts in memory across all uploads.
_MAX_CONCURRENT_PARTS = 4
# The bucket never had multipart uploads, or the storage cannot list them.
_NO_UPLOADS_STATUSES = frozenset({404, 405, 501})


class S3Blobs:
    """Has its own egress: the storage may be on a private network that tenants must not reach."""

    def __init__(
        self,
        address: S3Address,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        part: int = PART_BYTES,
        pauses_s: tuple[float, ...] = RETRY_DELAYS_SECONDS,
    ) -> None:
        """Take a `clock` for the dates in signatures, which the storage compares with its own clock."""
        self._prefix = address.prefix
        allow = [f"{address.host}:{address.port}"]
        settings, clock = settings or Settings(), clock or SystemClock()
        self._egress = Egress.from_settings(settings, allow)
        self._keys = keys_for(address, settings, clock)
        self._calls = S3Client(address, self._keys, self._egress, clock, pauses_s)
        self._part = part
        self._upload_slots = asyncio.Semaphore(_MAX_CONCURRENT_PARTS)

    async def put(self, key: str, source: Path) -> None:
        require_key(key)
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            size = os.fstat(handle).st_size
            if size <= self._part:
                await self._upload(handle, 0, "PUT", key)
            else:
                await self._put_multipart(key, handle, size)
        finally:
            os.close(handle)
        await asyncio.to_thread(source.unlink)

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        size = await self.size(key)
        end = size if length is None else min(size, offset + length)
        return self._iter_chunks(key, offset, end, is_whole=offset == 0 and end == size)

    async def size(self, key: str) -> int:
        reply = await self._calls.call("HEAD", require_key(key), expected=frozenset({200, 404}))
        if reply.status == 404:
            raise BlobMissing
        length = reply.headers.get("content-length", "")
        if not length.isdecimal():
            raise InvalidStorageResponse
        return int(length)

    async def delete(self, key: str) -> None:
        await self._calls.call("DELETE", require_key(key), expected=frozenset({200, 204, 404}))

    async def stored_before(self, moment: float) -> AsyncGenerator[str, None]:
        query = {"list-type": "2", "prefix": self._prefix}
        async for page in self._iter_pages(query, {"NextContinuationToken": "continuation-token"}):
            for record in page.records_named("Contents"):
                key = record["Key"].removeprefix(self._prefix)
                if is_key(key) and _parse_timestamp(record["LastModified"]) < moment:
                    yield key

    async def discard_unfinished(self, moment: float) -> None:
        query = {"uploads": "", "prefix": self._prefix}
        markers = {"NextKeyMarker": "key-marker", "NextUploadIdMarker": "upload-id-marker"}
        async for page in self._iter_pages(query, markers, empty_statuses=_NO_UPLOADS_STATUSES):
            for record in page.records_named("Upload"):
                key = record["Key"].removeprefix(self._prefix)
                if is_key(key) and _parse_timestamp(record["Initiated"]) < moment:
                    await self._abort_upload(key, record["UploadId"])

    async def close(self) -> None:
        await self._keys.close()
        await self._egress.close()

    async def _upload(
        self, handle: int, offset: int, method: str, key: str, query: Mapping[str, str] | None = None
    ) -> str:
        """Upload an object or one part of it; return its entity tag."""
        async with self._upload_slots:
            content = await asyncio.to_thread(os.pread, handle, self._part, offset)
            reply = await self._calls.call(method, key, query, content)
        return reply.headers.get("etag", "")

    async def _put_multipart(self, key: str, handle: int, size: int) -> None:
        started = await self._calls.call("POST", key, {"uploads": ""})
        upload_id = parse_s3_xml(started.content).fields.get("UploadId")
        if not upload_id:
            raise InvalidStorageResponse
        try:
            tags = []
            for number, offset in enumerate(range(0, size, self._part), start=1):
                query = {"partNumber": str(number), "uploadId": upload_id}
                tags.append(await self._upload(handle, offset, "PUT", key, query))
            await self._complete_upload(key, upload_id, tags, size)
        except BaseException:
            with contextlib.suppress(RetinueError):
                await asyncio.shield(self._abort_upload(key, upload_id))
            raise

    async def _complete_upload(self, key: str, upload_id: str, tags: list[str], size: int) -> None:
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"
            for number, tag in enumerate(tags, start=1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        reply = await self._calls.call(
            "POST", key, {"uploadId": upload_id}, body, expected=frozenset({200, 404})
        )
        # A lost response may mean success: the upload is gone and the object exists.
        if reply.status == 404 and await self.size(key) == size:
            return
        # Storage reports late failures with status 200.
        if reply.status == 404 or reply.code:
            raise storage_refusal("POST", reply.status, reply.code)

    async def _abort_upload(self, key: str, upload_id: str) -> None:
        await self._calls.call("DELETE", key, {"uploadId": upload_id}, expected=frozenset({200, 204, 404}))

    async def _iter_chunks(
        self, key: str, offset: int, end: int, *, is_whole: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the content; resume after a broken connection."""
        pauses = iter(self._calls.pauses_s)
        while offset < end:
            # Read a whole object without a range, which costs some storages an extra lookup.
            headers = {} if is_whole and offset == 0 else {"Range": f"bytes={offset}-{end - 1}"}
            try:
                async with self._calls.stream(key, headers, end - offset) as response:
                    _check_response(response, offset, is_part=bool(headers))
                    async for chunk in response.iter_bytes():
                        yield chunk
                        offset += len(chunk)
            except (EgressFailed, EgressTimeout, ResponseTooLarge):
                pass
            if offset < end:
                pause_s = next(pauses, None)
                if pause_s is None:
                    raise StorageUnavailable
                await asyncio.sleep(pause_s)

    async def _iter_pages(
        self,
        query: Mapping[str, str],
        markers: Mapping[str, str],
        *,
        empty_statuses: frozenset[int] = frozenset(),
    ) -> AsyncIterator[S3Document]:
        """Yield every page of a list; `markers` maps a page's fields to the query of the next page.

        `empty_statuses` mean an empty list.
        """
        request_query = dict(query)
        while True:
            reply = await self._calls.call("GET", query=request_query, expected=empty_statuses | {200})
            if reply.status in empty_statuses:
                return
            page = parse_s3_xml(reply.content)
            yield page
            if page.fields.get("IsTruncated") != "true":
                return
            next_page = {
                request_name: page.fields[name]
                for name, request_name in markers.items()
                if name in page.fields
            }
            if not next_page or next_page.items() <= request_query.items():
                return
            request_query |= next_page


def _check_response(response: Response, offset: int, *, is_part: bool) -> None:
    """Check that the response is the requested content; some storages send ranges with status 200."""
    if response.status == 404:
        raise BlobMissing
    if response.status in TRANSIENT_STATUSES:
        raise EgressFailed
    is_expected_range = (
        response.headers.get("Content-Range", "").startswith(f"bytes {offset}-") if is_part else True
    )
    if response.status not in {200, 206} or not is_expected_range:
        raise storage_refusal("GET", response.status, "")


def _parse_timestamp(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
