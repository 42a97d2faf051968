"""Indexing of a document: parse it, embed its pieces, store them, then publish the revision.

Each step is its own transaction, and none is open while the document is parsed or the model is called. An
interrupted run resumes after the last stored piece, because parsing yields the same pieces again. Two runs of
one document cannot both write: each continues only from the state it has seen.
"""

from collections.abc import Sequence

from retinue.adapters.blobs import BlobMissing
from retinue.adapters.documents import (
    DocumentError,
    DocumentPiece,
    DocumentTooLarge,
    EmptyDocument,
    ParsedDocument,
    UnreadableDocument,
    parse,
)
from retinue.files.local_copies import temporary_copy
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.failpoints import failpoint
from retinue.knowledge import training_run
from retinue.knowledge.chunks import MAX_CHUNKS, Vectors, enqueue_erasure, new_revision, write_chunks
from retinue.knowledge.embedding import EMBEDDED_MODEL, NO_MODEL, no_vectors, vectors_of
from retinue.knowledge.errors import EmbeddingFailed, EmbeddingUnpaid
from retinue.knowledge.job_kinds import INDEX_DOCUMENT, RESUME_WAITING, DocumentToIndex, TenantToResume
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.usage import enforcement, periods
from retinue.usage.enforcement import Spender
from retinue.usage.errors import BudgetExceeded
from retinue.usage.single_call import SingleCall

PIECES_PER_BATCH = 64
# Batches per job; the document is then enqueued again, so that other tenants get their turn.
BATCHES_PER_RUN = 64
# A budget that others hold for a moment is asked again as after any other failure.
_SOON_SECONDS = 60
UNFINISHED_STATUSES = (DocumentStatus.pending, DocumentStatus.indexing)
_ERROR_CODES = ("parse_error", "empty_document", "too_large", "embedding_error")


class IndexingSuperseded(Exception):
    """The document was deleted, or another run is indexing it."""


def enqueue_indexing(ctx: Context, document: Document) -> None:
    """Enqueue without a dedupe key: a job that is just finishing may still hold it."""
    ctx.defer(INDEX_DOCUMENT, DocumentToIndex(document_id=document.id))


async def index_document(ctx: Context, payload: DocumentToIndex) -> None:
    document = await ctx.db.get(Document, payload.document_id)
    if document is None or document.status not in UNFINISHED_STATUSES:
        return
    try:
        await _require_paid(ctx, document)
        parsed = await _parse_document(ctx, document)
        if await _build(ctx, document, parsed.pieces):
            await _publish(ctx, document)
        else:
            async with ctx.unit() as unit:
                enqueue_indexing(unit, document)
    except DocumentError as error:
        await mark_failed(ctx, document.id, error.code, error.message)
    except EmbeddingUnpaid as error:
        is_soon = 0 < error.retry_after_s <= _SOON_SECONDS
        if is_soon and ctx.caller.attempt < INDEX_DOCUMENT.max_attempts:
            raise
        await _wait_for_budget(ctx, document, error)
    except EmbeddingFailed as error:
        if error.is_transient and ctx.caller.attempt < INDEX_DOCUMENT.max_attempts:
            await _say_why_it_waits(ctx, document, error)
            raise
        await mark_failed(ctx, document.id, error.code, error.message)
    except IndexingSuperseded:
        pass


async def _require_paid(ctx: Context, document: Document) -> None:
    """Raise EmbeddingUnpaid if a budget is spent: a document that waits need not be read each time."""
    base = await ctx.db.get(KnowledgeBase, document.base_id)
    if base is None or base.embedding_model in {NO_MODEL, EMBEDDED_MODEL}:
        return
    try:
        await enforcement.require_budget(ctx, Spender(agent_id=base.owner_id), has_cheaper_model=False)
    except BudgetExceeded as refusal:
        raise EmbeddingUnpaid(refusal) from refusal


async def _say_why_it_waits(ctx: Context, document: Document, failure: EmbeddingFailed) -> None:
    """Show what the next attempt waits for: it may be an hour away, and somebody may mend it before."""
    async with ctx.unit() as unit:
        locked = await unit.db.lock(Document, document.id)
        if locked is not None and locked.status in UNFINISHED_STATUSES:
            await unit.db.update(locked, error={"code": failure.code, "message": failure.message})


async def _wait_for_budget(ctx: Context, document: Document, refusal: EmbeddingUnpaid) -> None:
    """Let the document wait and say why; it goes on with the budget's next period, or when one changes."""
    async with ctx.unit() as unit:
        locked = await unit.db.lock(Document, document.id)
        if locked is None or locked.status not in UNFINISHED_STATUSES:
            return
        error = {"code": refusal.refusal_code, "message": refusal.message}
        await unit.db.update(locked, status=DocumentStatus.pending, error=error)
        if refusal.retry_after_s:
            unit.defer(
                RESUME_WAITING,
                TenantToResume(),
                delay_s=refusal.retry_after_s,
                dedupe_key=f"resume:{periods.name_at(unit.clock.ahead(refusal.retry_after_s), 'hour')}",
            )


async def _parse_document(ctx: Context, document: Document) -> ParsedDocument:
    file = await ctx.db.get(File, document.file_id)
    if file is None:
        raise IndexingSuperseded
    try:
        async with temporary_copy(ctx, file) as path:
            parsed = await parse(path, filename=document.name, requester=ctx.requester)
    except BlobMissing as error:
        raise UnreadableDocument("The file of this document is missing. Upload it again.") from error
    if not parsed.pieces:
        raise EmptyDocument
    if len(parsed.pieces) > MAX_CHUNKS:
        raise DocumentTooLarge(f"The document has more than {MAX_CHUNKS} passages.")
    return parsed


async def _build(ctx: Context, document: Document, pieces: Sequence[DocumentPiece]) -> bool:
    """Store the next batches of pieces; return whether all are stored."""
    base = await _start_or_resume(ctx, document, len(pieces))
    until = document.chunks_done + BATCHES_PER_RUN * PIECES_PER_BATCH
    while document.chunks_done < min(until, len(pieces)):
        batch = pieces[document.chunks_done : document.chunks_done + PIECES_PER_BATCH]
        if base.embedding_model == NO_MODEL:
            vectors = no_vectors(len(batch))
        else:
            texts = [piece.embedded for piece in batch]
            vectors = await vectors_of(
                ctx,
                base.embedding_model,
                texts,
                hold=SingleCall(Spender(agent_id=base.owner_id)),
                dimensions=base.dimensions,
            )
            if not base.dimensions:
                base = await _settle_dimensions(ctx, base, vectors.shape[1])
        await _write(ctx, document, batch, vectors)
        failpoint("after_chunks")
    return document.chunks_done == len(pieces)


async def _start_or_resume(ctx: Context, document: Document, total: int) -> KnowledgeBase:
    """Resume an earlier run if it parsed the document into as many pieces; otherwise start over."""
    async with ctx.unit() as unit:
        base = await unit.db.get(KnowledgeBase, document.base_id)
        locked = await unit.db.lock(Document, document.id)
        if base is None or locked is None or locked.status not in UNFINISHED_STATUSES:
            raise IndexingSuperseded
        if locked.building is None or locked.chunks_total != total:
            enqueue_erasure(unit, locked.id, locked.building)
            await unit.db.update(locked, building=new_revision(), chunks_total=total, chunks_done=0)
        await unit.db.update(locked, status=DocumentStatus.indexing, error=None)
        document.building, document.chunks_done = locked.building, locked.chunks_done
    return base


async def _settle_dimensions(ctx: Context, base: KnowledgeBase, dimensions: int) -> KnowledgeBase:
    """Set the vector size of the base from its first vectors."""
    async with ctx.unit() as unit:
        locked = await unit.db.lock(KnowledgeBase, base.id)
        if locked is None:
            raise IndexingSuperseded
        if not locked.dimensions:
            await unit.db.update(locked, dimensions=dimensions)
    if locked.dimensions != dimensions:
        raise EmbeddingFailed("The embedding model returned vectors of different sizes.", is_transient=False)
    return locked


async def _lock_unchanged(unit: Context, document: Document) -> Document:
    """Lock the document; raise IndexingSuperseded if another run has changed it."""
    locked = await unit.db.lock(Document, document.id)
    if (
        locked is None
        or locked.building is None
        or (locked.building, locked.chunks_done) != (document.building, document.chunks_done)
    ):
        raise IndexingSuperseded
    return locked


async def _write(ctx: Context, document: Document, pieces: Sequence[DocumentPiece], vectors: Vectors) -> None:
    async with ctx.unit() as unit:
        locked = await _lock_unchanged(unit, document)
        assert locked.building is not None
        await write_chunks(unit, locked, locked.building, pieces, vectors)
        await unit.db.update(locked, chunks_done=locked.chunks_done + len(pieces))
    document.chunks_done = locked.chunks_done


async def _publish(ctx: Context, document: Document) -> None:
    """Make the new revision searchable in place of the old one."""
    async with ctx.unit() as unit:
        base = await unit.db.lock(KnowledgeBase, document.base_id)
        if base is None:
            raise IndexingSuperseded
        locked = await _lock_unchanged(unit, document)
        enqueue_erasure(unit, locked.id, locked.revision)
        await unit.db.update(
            locked,
            status=DocumentStatus.indexed,
            revision=locked.building,
            building=None,
            chunk_count=locked.chunks_done,
            error=None,
            indexed_at=unit.now,
        )
        await training_run.document_indexed(unit, base)


async def mark_failed(ctx: Context, document_id: str, code: str, message: str) -> None:
    """Mark a document as failed; its previous revision stays searchable."""
    error = {"code": code if code in _ERROR_CODES else "parse_error", "message": message}
    async with ctx.unit() as unit:
        document = await unit.db.get(Document, document_id)
        base = await unit.db.lock(KnowledgeBase, document.base_id) if document else None
        document = await unit.db.lock(Document, document_id)
        if base is None or document is None or document.status not in UNFINISHED_STATUSES:
            return
        enqueue_erasure(unit, document.id, document.building)
        await unit.db.update(
            document, status=DocumentStatus.failed, error=error, building=None, chunks_total=0, chunks_done=0
        )
        await training_run.document_failed(unit, base, error)
