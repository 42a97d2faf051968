"""Indexing a document: read it, turn its pieces into vectors, write them, and only then let it be found.

Each step is a transaction of its own, and none is open while the document is read or the model is asked. A
run that was interrupted goes on behind the last piece that was written: reading gives the same pieces again.
Two runs of the same document cannot both write on, because each goes on from what it has seen.
"""

import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from retinue.adapters.blobs import BlobMissing, Blobs
from retinue.adapters.documents import (
    DocumentError,
    DocumentTooLarge,
    EmptyDocument,
    Parsed,
    Piece,
    UnreadableDocument,
    parse,
)
from retinue.files.models import File
from retinue.files.service import blob_key
from retinue.kit.context import Context
from retinue.kit.failpoints import failpoint
from retinue.kit.jobs.declare import Retry, job
from retinue.knowledge import training
from retinue.knowledge.chunks import MOST_CHUNKS, Vectors, erase_later, new_revision, write
from retinue.knowledge.embedding import vectors_of
from retinue.knowledge.errors import EmbeddingFailed
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase

BATCH = 64
# So many batches are a turn: then the document goes to the end of the line, and other tenants have theirs.
TURN = 64
UNFINISHED = (DocumentStatus.pending, DocumentStatus.indexing)
_RETRY = Retry((0, 10, 60, 300, 900))
_CODES = ("parse_error", "empty_document", "too_large", "embedding_error")


class DocumentToIndex(msgspec.Struct):
    document_id: str


class Superseded(Exception):
    """The document was deleted, or another run is writing it."""


def index_later(ctx: Context, document: Document) -> None:
    """Without a key: a job that has done its work may still hold it, and this one would be dropped."""
    ctx.defer(index_document, DocumentToIndex(document_id=document.id))


@job(queue="knowledge", at_once=2, retry=_RETRY, timeout_s=4 * 3600, transactional=False)
async def index_document(ctx: Context, payload: DocumentToIndex) -> None:
    document = await ctx.db.get(Document, payload.document_id)
    if document is None or document.status not in UNFINISHED:
        return
    try:
        parsed = await _read(ctx, document)
        if await _build(ctx, document, parsed.pieces):
            await _publish(ctx, document)
        else:
            async with ctx.unit() as unit:
                index_later(unit, document)
    except DocumentError as error:
        await fail(ctx, document.id, error.code, error.message)
    except EmbeddingFailed as error:
        if error.is_passing and ctx.caller.attempt < len(_RETRY.delays):
            raise
        await fail(ctx, document.id, error.code, error.message)
    except Superseded:
        pass


async def _read(ctx: Context, document: Document) -> Parsed:
    file = await ctx.db.get(File, document.file_id)
    if file is None:
        raise Superseded
    async with _on_disk(ctx, file) as path:
        parsed = await parse(path, filename=document.name)
    if not parsed.pieces:
        raise EmptyDocument
    if len(parsed.pieces) > MOST_CHUNKS:
        raise DocumentTooLarge(f"The document has more than {MOST_CHUNKS} passages.")
    return parsed


@contextlib.asynccontextmanager
async def _on_disk(ctx: Context, file: File) -> AsyncIterator[Path]:
    """A copy for the process that reads it, which sees nothing else; what a crash leaves is swept."""
    folder = ctx.settings.data_dir / "tmp"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / secrets.token_hex(16)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            async for piece in await ctx.adapter(Blobs).open(blob_key(file)):
                copy.write(piece)
        yield path
    except BlobMissing as error:
        raise UnreadableDocument("The file of this document is gone; upload it again.") from error
    finally:
        path.unlink(missing_ok=True)


async def _build(ctx: Context, document: Document, pieces: Sequence[Piece]) -> bool:
    """Write the pieces that are not written yet, as many as make a turn; whether those were all."""
    base = await _begin(ctx, document, len(pieces))
    until = document.chunks_done + TURN * BATCH
    while document.chunks_done < min(until, len(pieces)):
        batch = pieces[document.chunks_done : document.chunks_done + BATCH]
        texts = [piece.embedded for piece in batch]
        vectors = await vectors_of(ctx, base.embedding_model, texts, dimensions=base.dimensions)
        if not base.dimensions:
            base = await _settle_dimensions(ctx, base, vectors.shape[1])
        await _write(ctx, document, batch, vectors)
        failpoint("after_chunks")
    return document.chunks_done == len(pieces)


async def _begin(ctx: Context, document: Document, total: int) -> KnowledgeBase:
    """Take up what an earlier run has left, if it read the document the same way; else start anew."""
    async with ctx.unit() as unit:
        base = await unit.db.get(KnowledgeBase, document.base_id)
        locked = await unit.db.lock(Document, document.id)
        if base is None or locked is None or locked.status not in UNFINISHED:
            raise Superseded
        if locked.building is None or locked.chunks_total != total:
            erase_later(unit, locked.id, locked.building)
            await unit.db.update(locked, building=new_revision(), chunks_total=total, chunks_done=0)
        await unit.db.update(locked, status=DocumentStatus.indexing, error=None)
        document.building, document.chunks_done = locked.building, locked.chunks_done
    return base


async def _settle_dimensions(ctx: Context, base: KnowledgeBase, dimensions: int) -> KnowledgeBase:
    """The first vectors of a base say how long all of them are."""
    async with ctx.unit() as unit:
        locked = await unit.db.lock(KnowledgeBase, base.id)
        if locked is None:
            raise Superseded
        if not locked.dimensions:
            await unit.db.update(locked, dimensions=dimensions)
    if locked.dimensions != dimensions:
        raise EmbeddingFailed("The model answers with vectors of different sizes.", is_passing=False)
    return locked


async def _held(unit: Context, document: Document) -> Document:
    """The document, locked, as this run has left it; whoever finds it otherwise is not alone."""
    locked = await unit.db.lock(Document, document.id)
    if (
        locked is None
        or locked.building is None
        or (locked.building, locked.chunks_done) != (document.building, document.chunks_done)
    ):
        raise Superseded
    return locked


async def _write(ctx: Context, document: Document, pieces: Sequence[Piece], vectors: Vectors) -> None:
    async with ctx.unit() as unit:
        locked = await _held(unit, document)
        assert locked.building is not None
        await write(unit, locked, locked.building, pieces, vectors)
        await unit.db.update(locked, chunks_done=locked.chunks_done + len(pieces))
    document.chunks_done = locked.chunks_done


async def _publish(ctx: Context, document: Document) -> None:
    """From here on the new revision is found, and the old one is not."""
    async with ctx.unit() as unit:
        base = await unit.db.lock(KnowledgeBase, document.base_id)
        if base is None:
            raise Superseded
        locked = await _held(unit, document)
        erase_later(unit, locked.id, locked.revision)
        await unit.db.update(
            locked,
            status=DocumentStatus.indexed,
            revision=locked.building,
            building=None,
            chunk_count=locked.chunks_done,
            error=None,
            indexed_at=unit.now,
        )
        await training.document_indexed(unit, base)


async def fail(ctx: Context, document_id: str, code: str, message: str) -> None:
    """Give up on a document; what was found of it before is still found."""
    error = {"code": code if code in _CODES else "parse_error", "message": message}
    async with ctx.unit() as unit:
        document = await unit.db.get(Document, document_id)
        base = await unit.db.lock(KnowledgeBase, document.base_id) if document else None
        document = await unit.db.lock(Document, document_id)
        if base is None or document is None or document.status not in UNFINISHED:
            return
        erase_later(unit, document.id, document.building)
        await unit.db.update(
            document, status=DocumentStatus.failed, error=error, building=None, chunks_total=0, chunks_done=0
        )
        await training.document_failed(unit, base, error)
