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
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.http.replies import Download
from retinue.kit.http.uploads import UploadedFile
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import Retry, job


async def store(
    ctx: Context, source: UploadedFile | bytes, *, purpose: str, filename: str, mime_type: str
) -> File:
    """Keep the bytes and their row; for several files, `keep` all of them and then insert their rows."""
    kept = await keep(ctx, source, purpose=purpose, filename=filename, mime_type=mime_type)
    return await ctx.db.insert(kept)


async def keep(
    ctx: Context, source: UploadedFile | bytes, *, purpose: str, filename: str, mime_type: str
) -> File:
    """Make the bytes durable; the row is still to be inserted, in the transaction that opens after this."""
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
    )
    try:
        await ctx.adapter(Blobs).put(blob_key(file), path)
    finally:
        path.unlink(missing_ok=True)
    return file


def _spool(folder: Path, content: bytes) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / secrets.token_hex(16)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as spool:
        spool.write(content)
    return path


def blob_key(file: File) -> str:
    return f"{file.tenant_id}/{file.id}"


async def content(ctx: Context, file: File, *, inline: bool = False, cache: str = "no-store") -> Download:
    """The bytes as an answer; refused here when they are gone."""
    pieces: AsyncIterator[bytes] = await ctx.adapter(Blobs).open(blob_key(file))
    return Download(
        chunks=lambda: pieces,
        size=file.size_bytes,
        mime_type=file.mime_type,
        filename=file.filename,
        inline=inline,
        cache=cache,
    )


async def remove(ctx: Context, file: File) -> None:
    """Delete the row now and the bytes after the commit."""
    await ctx.db.delete(file)
    ctx.defer(remove_bytes, BytesToRemove(key=blob_key(file)))


class BytesToRemove(msgspec.Struct):
    key: str


@job(retry=Retry((0, 30, 300, 3600)), transactional=False)
async def remove_bytes(ctx: Context, payload: BytesToRemove) -> None:
    await ctx.adapter(Blobs).delete(payload.key)
