"""Files: bytes in the blob store, and one row for what is known of them.

Bytes are durable before the row that names them is committed, and go after the row is gone. What a crash
leaves in between are bytes without a row, which `sweep_orphans` finds.
"""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from retinue.adapters.blobs import Blobs
from retinue.files.errors import FileInUse, FileNotFound
from retinue.files.events import FileDeleted
from retinue.files.models import File
from retinue.files.queries import sees_all
from retinue.files.ranges import Part, read_range
from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden
from retinue.kit.failpoints import failpoint
from retinue.kit.http.replies import Download, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.uploads import UploadedFile
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import Retry, job

REFERENCE = "file"
"""What other domains point at with a `kit.references.Reference`."""


async def store(
    ctx: Context,
    source: UploadedFile | bytes,
    *,
    purpose: str,
    filename: str,
    mime_type: str,
    kept_s: float | None = None,
) -> File:
    """Keep the bytes and their row; for several files, `keep` all of them and then insert their rows."""
    kept = await keep(ctx, source, purpose=purpose, filename=filename, mime_type=mime_type, kept_s=kept_s)
    return await ctx.db.insert(kept)


async def keep(
    ctx: Context,
    source: UploadedFile | bytes,
    *,
    purpose: str,
    filename: str,
    mime_type: str,
    kept_s: float | None = None,
) -> File:
    """Make the bytes durable; the row is still to be inserted, in the transaction that opens after this.

    With `kept_s` the file goes after so many seconds, unless someone claims or uses it.
    """
    if ctx.unit_of_work.is_open:
        raise RuntimeError("bytes are stored before the transaction opens, not while others wait for it")
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
    ctx: Context, file: File, *, part: Part | None = None, inline: bool = False, cache: str = "no-store"
) -> Download:
    """The bytes as an answer; refused here when they are gone."""
    part = part or Part(0, file.size_bytes)
    pieces: AsyncIterator[bytes] = await ctx.adapter(Blobs).open(blob_key(file), part.offset, part.length)
    return Download(
        chunks=lambda: pieces,
        size=part.length,
        mime_type=file.mime_type,
        filename=file.filename,
        inline=inline,
        cache=cache,
    )


async def serve(ctx: Context, file: File, request: Request) -> Reply[Download]:
    """The file, or the part of it that is asked for; its hash tells whether it is still the same file."""
    tag = f'"{file.sha256}"'
    is_same = request.header(b"if-range") in {"", tag}
    part = read_range(request.header(b"range"), file.size_bytes) if is_same else None
    headers = (("Accept-Ranges", "bytes"), ("ETag", tag))
    if part is None:
        return Reply(await content(ctx, file), headers=headers)
    described = ("Content-Range", part.described(file.size_bytes))
    return Reply(await content(ctx, file, part=part), status=206, headers=(*headers, described))


async def claim(ctx: Context, file_id: str, *, purpose: str) -> File:
    """Take up a file that waits: it belongs to a record of the caller's from now on, and to no other."""
    held = await ctx.db.lock(File, file_id)
    is_waiting = held is not None and held.expires_at is not None and held.expires_at > ctx.now
    if held is None or held.purpose != purpose or not is_waiting:
        raise FileNotFound
    return await ctx.db.update(held, expires_at=None)


async def delete(ctx: Context, file: File, *, is_forced: bool) -> None:
    """Refused while anything uses it; with force everything lets go of it first."""
    if is_forced:
        if not sees_all(ctx):
            raise Forbidden("agents:write", ctx.principal.role)
        await references.detach(ctx, REFERENCE, file.id)
    held = await ctx.db.lock(File, file.id)
    if held is not None:
        users = await references.referrers(ctx, REFERENCE, held.id)
        if any(users.values()):
            raise FileInUse(users)
        await remove(ctx, held)
    elif not is_forced:
        raise FileNotFound
    ctx.emit(FileDeleted.about(file))


async def remove(ctx: Context, file: File) -> None:
    """Delete the row now and the bytes after the commit."""
    await ctx.db.delete(file)
    ctx.defer(remove_bytes, BytesToRemove(key=blob_key(file)))


class BytesToRemove(msgspec.Struct):
    key: str


@job(retry=Retry((0, 30, 300, 3600)), transactional=False)
async def remove_bytes(ctx: Context, payload: BytesToRemove) -> None:
    await ctx.adapter(Blobs).delete(payload.key)
