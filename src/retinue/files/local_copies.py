"""Content of stored files for this process: a private copy on disk, or a bounded read into memory."""

import contextlib
import os
import secrets
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path

from retinue.adapters.blobs import BlobMissing, Blobs
from retinue.files.models import File
from retinue.files.service import blob_key
from retinue.kit.context import Context


@contextlib.asynccontextmanager
async def temporary_copy(ctx: Context, file: File) -> AsyncIterator[Path]:
    """Yield a private copy of a stored file for a confined process."""
    async with temporary_file(ctx, await ctx.adapter(Blobs).open(blob_key(file))) as path:
        yield path


@contextlib.asynccontextmanager
async def temporary_file(ctx: Context, pieces: AsyncIterable[bytes]) -> AsyncIterator[Path]:
    """Yield a private file with this content; files left by a crash are swept."""
    folder = ctx.settings.data_dir / "tmp"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / secrets.token_hex(16)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
            async for piece in pieces:
                written.write(piece)
        yield path
    finally:
        path.unlink(missing_ok=True)


async def read_start(ctx: Context, file_id: str, max_bytes: int) -> bytes | None:
    """Return the first bytes of a file of this tenant; None if they are gone."""
    # The bytes outlive the file by a day.
    file = await ctx.db.get(File, file_id)
    if file is None:
        return None
    try:
        pieces = await ctx.adapter(Blobs).open(blob_key(file), 0, max_bytes)
        return b"".join([piece async for piece in pieces])
    except BlobMissing:
        return None
