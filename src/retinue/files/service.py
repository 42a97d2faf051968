"""Files: bytes in the blob store and a row with their metadata.

Bytes are durable before their row is committed, and are deleted a day after it. A crash in between leaves
bytes without a row, which `sweep_orphans` deletes.
"""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from retinue.adapters.blobs import Blobs
from retinue.files.errors import FileInUse, FileNotFound
from retinue.files.events import FileDeleted
from retinue.files.job_kinds import REMOVE_BYTES, BytesToRemove
from retinue.files.models import File, Purpose
from retinue.files.queries import may_manage_all
from retinue.files.ranges import ByteRange, parse_range
from retinue.kit.context import Context, references
from retinue.kit.conversation_ids import UNNAMED_CONVERSATIONS
from retinue.kit.errors import Forbidden
from retinue.kit.failpoints import failpoint
from retinue.kit.http.replies import Download, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.uploads import UploadedFile
from retinue.kit.ids import new_id

BYTES_KEPT_SECONDS = 24 * 3600.0
# Files that people of the tenant share: their names are in the lists of documents, tools and people.
_SHARED_PURPOSES = {Purpose.knowledge.value, Purpose.tool.value, Purpose.avatar.value}
REFERENCE = "file"
"""The target name that other domains use in a `kit.context.references.Reference`."""


async def store(
    ctx: Context,
    source: UploadedFile | bytes,
    *,
    purpose: str,
    filename: str,
    mime_type: str,
    kept_s: float | None = None,
) -> File:
    """Store the bytes and insert their row.

    For several files, use `store_content` and insert the rows after.
    """
    file = await store_content(
        ctx, source, purpose=purpose, filename=filename, mime_type=mime_type, kept_s=kept_s
    )
    return await ctx.db.insert(file)


async def store_content(
    ctx: Context,
    source: UploadedFile | bytes,
    *,
    purpose: str,
    filename: str,
    mime_type: str,
    kept_s: float | None = None,
) -> File:
    """Store the bytes durably and return the row for them, which the caller inserts.

    Call it before the transaction opens. With `kept_s` the file expires after this many seconds, unless it is
    claimed or in use.
    """
    if ctx.unit_of_work.is_open:
        raise RuntimeError("store bytes before the transaction opens: others would wait for its locks")
    if isinstance(source, bytes):
        size, sha256 = len(source), hashlib.sha256(source).hexdigest()
        path = await asyncio.to_thread(_spool, ctx.settings.data_dir / "tmp", source)
    else:
        size, sha256, path = source.size, source.sha256, source.path
    file = File(
        id=new_id(File.__prefix__),
        tenant_id=ctx.tenant_id,
        filename=filename[:255],
        mime_type=mime_type,
        size_bytes=size,
        sha256=sha256,
        purpose=purpose,
        created_by=ctx.principal.id,
        expires_at=None if kept_s is None else ctx.clock.ahead(kept_s),
    )
    failpoint("file_spooled")
    try:
        await ctx.adapter(Blobs).put(blob_key(file), path)
    finally:
        path.unlink(missing_ok=True)
    failpoint("file_bytes_kept")
    return file


def _spool(folder: Path, content: bytes) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / secrets.token_hex(16)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as spool:
        spool.write(content)
    return path


def blob_key(file: File) -> str:
    return f"{file.tenant_id}/{file.id}"


async def content(
    ctx: Context, file: File, *, part: ByteRange | None = None, inline: bool = False, cache: str = "no-store"
) -> Download:
    """Return the bytes as a download; raise `BlobMissing` if they are gone."""
    part = part or ByteRange(0, file.size_bytes)
    chunks: AsyncIterator[bytes] = await ctx.adapter(Blobs).open(blob_key(file), part.offset, part.length)
    return Download(
        chunks=lambda: chunks,
        size=part.length,
        mime_type=file.mime_type,
        filename=file.filename,
        inline=inline,
        cache=cache,
    )


async def serve(ctx: Context, file: File, request: Request) -> Reply[Download]:
    """Return the file, or the requested range of it. The hash is the ETag that `If-Range` compares."""
    tag = f'"{file.sha256}"'
    is_unchanged = request.header(b"if-range") in {"", tag}
    part = parse_range(request.header(b"range"), file.size_bytes) if is_unchanged else None
    headers = (("Accept-Ranges", "bytes"), ("ETag", tag))
    if part is None:
        return Reply(await content(ctx, file), headers=headers)
    content_range = ("Content-Range", part.content_range(file.size_bytes))
    return Reply(await content(ctx, file, part=part), status=206, headers=(*headers, content_range))


async def claim(ctx: Context, file_id: str, *, purpose: str) -> File:
    """Claim an unclaimed file for one record: it no longer expires and cannot be claimed again."""
    locked = await ctx.db.lock(File, file_id)
    is_waiting = locked is not None and locked.expires_at is not None and locked.expires_at > ctx.now
    if locked is None or locked.purpose != purpose or not is_waiting:
        raise FileNotFound
    return await ctx.db.update(locked, expires_at=None)


def readers_of_name(file: File) -> tuple[str, ...]:
    """Return whose the name of a file is, as an event keeps it; nothing if everyone may read it.

    What is sent in a chat or a form belongs to it, also before the message that it is attached to.
    """
    if file.purpose in _SHARED_PURPOSES:
        return ()
    return (file.created_by or UNNAMED_CONVERSATIONS,)


async def delete(ctx: Context, file: File, *, is_forced: bool) -> None:
    """Delete a file that nothing uses; with `is_forced`, detach it from its users first."""
    if is_forced:
        if not may_manage_all(ctx):
            raise Forbidden("agents:write", ctx.principal.role)
        await references.detach_referrers(ctx, REFERENCE, file.id)
    locked = await ctx.db.lock(File, file.id)
    if locked is not None:
        users = await references.find_referrers(ctx, REFERENCE, locked.id)
        if any(users.values()):
            raise FileInUse(users)
        await remove(ctx, locked)
    elif not is_forced:
        raise FileNotFound
    ctx.emit(FileDeleted.about(file), conversation_ids=readers_of_name(file))


async def remove(ctx: Context, file: File) -> None:
    """Delete the row now and the bytes a day later.

    A backup copies the database first and then the bytes that the copy names, so they must outlive it.
    """
    await ctx.db.delete(file)
    ctx.defer(REMOVE_BYTES, BytesToRemove(key=blob_key(file)), delay_s=BYTES_KEPT_SECONDS)


def discard(ctx: Context, file: File) -> None:
    """Delete stored bytes for which no row is inserted after all."""
    ctx.defer(REMOVE_BYTES, BytesToRemove(key=blob_key(file)))


async def remove_bytes(ctx: Context, payload: BytesToRemove) -> None:
    await ctx.adapter(Blobs).delete(payload.key)
