"""Blobs as objects in a bucket: anything that speaks S3 and checks version 4 signatures."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from retinue.adapters.blobs.s3_address import S3Address
from retinue.adapters.blobs.s3_answers import Answer, UnreadableAnswer, read_answer
from retinue.adapters.blobs.s3_calls import PASSING, PAUSES_S, S3Calls, refused
from retinue.adapters.blobs.store import BlobMissing, StorageUnavailable, checked, is_key
from retinue.kit.clock import Clock, SystemClock
from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, Response
from retinue.kit.errors import RetinueError

# A larger file goes in parts of this size, each of them in memory while it is sent; storage takes no smaller
# ones than 5 MiB.
PART = 8 * 1024 * 1024
# So many parts are in memory at once, whoever sends them.
_PARTS_AT_ONCE = 4
# Where nothing was ever sent in parts, or where that cannot be listed.
_HAS_NO_UPLOADS = frozenset({404, 405, 501})


class S3Blobs:
    """Has a way out of its own: the storage may be on a private network where no tenant's call may go."""

    def __init__(
        self,
        address: S3Address,
        *,
        clock: Clock | None = None,
        part: int = PART,
        pauses_s: tuple[float, ...] = PAUSES_S,
    ) -> None:
        """`clock` dates the signatures, which the storage compares with its own clock."""
        self._prefix = address.prefix
        self._egress = Egress([f"{address.host}:{address.port}"])
        self._calls = S3Calls(address, self._egress, clock or SystemClock(), pauses_s)
        self._part = part
        self._sending = asyncio.Semaphore(_PARTS_AT_ONCE)

    async def put(self, key: str, source: Path) -> None:
        checked(key)
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            size = os.fstat(handle).st_size
            if size <= self._part:
                await self._send(handle, 0, "PUT", key)
            else:
                await self._put_in_parts(key, handle, size)
        finally:
            os.close(handle)
        await asyncio.to_thread(source.unlink)

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        size = await self.size(key)
        end = size if length is None else min(size, offset + length)
        return self._pieces(key, offset, end, is_whole=offset == 0 and end == size)

    async def size(self, key: str) -> int:
        answered = await self._calls.call("HEAD", checked(key), expected=frozenset({200, 404}))
        if answered.status == 404:
            raise BlobMissing
        length = answered.headers.get("content-length", "")
        if not length.isdecimal():
            raise UnreadableAnswer
        return int(length)

    async def delete(self, key: str) -> None:
        await self._calls.call("DELETE", checked(key), expected=frozenset({200, 204, 404}))

    async def stored_before(self, moment: float) -> AsyncGenerator[str, None]:
        query = {"list-type": "2", "prefix": self._prefix}
        async for page in self._pages(query, {"NextContinuationToken": "continuation-token"}):
            for record in page.of("Contents"):
                key = record["Key"].removeprefix(self._prefix)
                if is_key(key) and _moment(record["LastModified"]) < moment:
                    yield key

    async def discard_unfinished(self, moment: float) -> None:
        query = {"uploads": "", "prefix": self._prefix}
        markers = {"NextKeyMarker": "key-marker", "NextUploadIdMarker": "upload-id-marker"}
        async for page in self._pages(query, markers, has_none=_HAS_NO_UPLOADS):
            for record in page.of("Upload"):
                key = record["Key"].removeprefix(self._prefix)
                if is_key(key) and _moment(record["Initiated"]) < moment:
                    await self._abandon(key, record["UploadId"])

    async def close(self) -> None:
        await self._egress.close()

    async def _send(
        self, handle: int, offset: int, method: str, key: str, query: Mapping[str, str] | None = None
    ) -> str:
        """One object, or one part of it; its entity tag."""
        async with self._sending:
            content = await asyncio.to_thread(os.pread, handle, self._part, offset)
            answered = await self._calls.call(method, key, query, content)
        return answered.headers.get("etag", "")

    async def _put_in_parts(self, key: str, handle: int, size: int) -> None:
        begun = await self._calls.call("POST", key, {"uploads": ""})
        upload_id = read_answer(begun.content).fields.get("UploadId")
        if not upload_id:
            raise UnreadableAnswer
        try:
            tags = []
            for number, offset in enumerate(range(0, size, self._part), start=1):
                query = {"partNumber": str(number), "uploadId": upload_id}
                tags.append(await self._send(handle, offset, "PUT", key, query))
            await self._join(key, upload_id, tags, size)
        except BaseException:
            with contextlib.suppress(RetinueError):
                await asyncio.shield(self._abandon(key, upload_id))
            raise

    async def _join(self, key: str, upload_id: str, tags: list[str], size: int) -> None:
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"
            for number, tag in enumerate(tags, start=1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        answered = await self._calls.call(
            "POST", key, {"uploadId": upload_id}, body, expected=frozenset({200, 404})
        )
        # An attempt whose answer was lost has done it already: the upload is gone and the object is there.
        if answered.status == 404 and await self.size(key) == size:
            return
        # A failure that comes to light late is told with status 200.
        if answered.status == 404 or answered.code:
            raise refused("POST", answered.status, answered.code)

    async def _abandon(self, key: str, upload_id: str) -> None:
        await self._calls.call("DELETE", key, {"uploadId": upload_id}, expected=frozenset({200, 204, 404}))

    async def _pieces(
        self, key: str, offset: int, end: int, *, is_whole: bool
    ) -> AsyncGenerator[bytes, None]:
        """A connection that breaks is taken up where it broke."""
        pauses = iter(self._calls.pauses_s)
        while offset < end:
            # Read whole without a range, which costs some storages a second look.
            headers = {} if is_whole and offset == 0 else {"Range": f"bytes={offset}-{end - 1}"}
            try:
                async with self._calls.stream(key, headers, end - offset) as response:
                    _check(response, offset, is_part=bool(headers))
                    async for piece in response.iter_bytes():
                        yield piece
                        offset += len(piece)
            except (EgressFailed, EgressTimeout):
                pass
            if offset < end:
                pause_s = next(pauses, None)
                if pause_s is None:
                    raise StorageUnavailable
                await asyncio.sleep(pause_s)

    async def _pages(
        self, query: Mapping[str, str], markers: Mapping[str, str], *, has_none: frozenset[int] = frozenset()
    ) -> AsyncIterator[Answer]:
        """Every page of a list; `markers` are what one page says about the next, and how it is asked for.

        `has_none` are statuses that mean an empty list.
        """
        asked = dict(query)
        while True:
            answered = await self._calls.call("GET", query=asked, expected=has_none | {200})
            if answered.status in has_none:
                return
            page = read_answer(answered.content)
            yield page
            if page.fields.get("IsTruncated") != "true":
                return
            found = {asked_as: page.fields[name] for name, asked_as in markers.items() if name in page.fields}
            if not found or found.items() <= asked.items():
                return
            asked |= found


def _check(response: Response, offset: int, *, is_part: bool) -> None:
    """A part is known by what it says of itself: not every storage gives it the status of one."""
    if response.status == 404:
        raise BlobMissing
    if response.status in PASSING:
        raise EgressFailed
    is_right = response.headers.get("Content-Range", "").startswith(f"bytes {offset}-") if is_part else True
    if response.status not in {200, 206} or not is_right:
        raise refused("GET", response.status, "")


def _moment(written: str) -> float:
    moment = datetime.fromisoformat(written)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
