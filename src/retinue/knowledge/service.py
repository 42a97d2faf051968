"""Knowledge bases and their documents: add, change, delete, and the state of the training.

Lock order: the base first, then its document, to avoid deadlocks.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.files import service as files
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.errors import RecordGone
from retinue.kit.db.in_list import list_parameter
from retinue.kit.json_types import JsonObject
from retinue.knowledge import training_run as runs
from retinue.knowledge.chunks import enqueue_erasure
from retinue.knowledge.document_indexer import UNFINISHED_STATUSES, enqueue_indexing
from retinue.knowledge.embedding import NO_MODEL, default_embedding_model
from retinue.knowledge.errors import DocumentNotFound
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.knowledge.queries import COUNTS, DOCUMENTS_OF_CONTENT
from retinue.knowledge.training_run import TrainingProgress

FILE_PURPOSE = "knowledge"


class Counts(msgspec.Struct, frozen=True):
    document_count: int = 0
    chunk_count: int = 0


async def create_base(ctx: Context, *, owner_id: str = "") -> KnowledgeBase:
    """Create a base; `owner_id` is the agent it is for, named in the events of its training."""
    return await ctx.db.insert(
        KnowledgeBase(owner_id=owner_id, embedding_model=default_embedding_model(ctx.settings))
    )


async def add_documents(
    ctx: Context, base_id: str, kept: Sequence[File], *, is_uploaded: bool = False
) -> list[Document]:
    """Add files whose content is already stored (`files.store_content`), and enqueue their indexing.

    With `is_uploaded`, they have been uploaded as files and now become the documents' own.
    """
    base = await _lock_base(ctx, base_id)
    if base.embedding_model == NO_MODEL or not await ctx.db.count(Document, base_id=base.id):
        await _use_default_model(ctx, base)
    documents = []
    for file in kept:
        if not is_uploaded:
            await ctx.db.insert(file)
        document = Document(
            base_id=base.id,
            name=file.filename,
            mime_type=file.mime_type,
            size_bytes=file.size_bytes,
            file_id=file.id,
            metadata={},
        )
        documents.append(await ctx.db.insert(document))
        enqueue_indexing(ctx, document)
    await runs.start(ctx, base, len(documents))
    return documents


async def split_known(ctx: Context, base_id: str, kept: Sequence[File]) -> tuple[list[File], list[Document]]:
    """Return the files whose content the base does not have yet, and the documents that have the others'.

    Known content whose indexing failed is indexed again. Bytes that are not needed are removed. The base
    stays locked, so that of two simultaneous uploads of one file only one is new.
    """
    base = await _lock_base(ctx, base_id)
    hashes = list_parameter({file.sha256 for file in kept})
    ids: dict[str, str] = {}
    for document_id, sha256 in await ctx.db.rows(DOCUMENTS_OF_CONTENT, base_id=base.id, hashes=hashes):
        ids.setdefault(sha256, document_id)
    new: dict[str, File] = {}
    for file in kept:
        if file.sha256 in ids or file.sha256 in new:
            files.discard(ctx, file)
        else:
            new[file.sha256] = file
    known = [await ctx.db.get(Document, document_id) for document_id in ids.values()]
    return list(new.values()), [await _revived(ctx, document) for document in known if document]


async def _revived(ctx: Context, document: Document) -> Document:
    return await reindex(ctx, document) if document.status is DocumentStatus.failed else document


async def change(
    ctx: Context, document: Document, *, metadata: JsonObject | None = None, enabled: bool | None = None
) -> Document:
    """Change the metadata, or whether the document is searched; None leaves a value unchanged."""
    base, document = await _lock_base_and_document(ctx, document)
    changes: JsonObject = {}
    if metadata is not None and metadata != document.metadata:
        changes["metadata"] = metadata
    if enabled is not None and enabled != document.is_enabled:
        changes["is_enabled"] = enabled
    if changes:
        await ctx.db.update(document, **changes)
        await _bump_generation(ctx, base)
    return document


async def reindex(ctx: Context, document: Document) -> Document:
    """Index the document again; it stays searchable meanwhile. Does nothing if already waiting."""
    base, document = await _lock_base_and_document(ctx, document)
    if document.status not in UNFINISHED_STATUSES:
        await ctx.db.update(document, status=DocumentStatus.pending, error=None)
        if base.embedding_model == NO_MODEL:
            await _use_default_model(ctx, base)
        enqueue_indexing(ctx, document)
        await runs.start(ctx, base, 1)
    return document


async def delete(ctx: Context, document: Document) -> None:
    """Delete a document: unsearchable with this transaction, its rows and file are erased afterwards."""
    base, document = await _lock_base_and_document(ctx, document)
    await _remove(ctx, document)
    await _bump_generation(ctx, base)
    if document.status in UNFINISHED_STATUSES:
        await runs.document_withdrawn(ctx, base)


async def delete_base(ctx: Context, base_id: str) -> None:
    """Delete a base and its documents, without events for a run in progress."""
    base = await ctx.db.lock(KnowledgeBase, base_id)
    if base is None:
        return
    for document in await ctx.db.all(Document, base_id=base_id):
        await _remove(ctx, document)
    await ctx.db.delete(base)


async def find_documents_of_file(ctx: Context, file_id: str) -> list[Referrer]:
    documents = await ctx.db.all(Document, file_id=file_id)
    return [Referrer(document.id, document.name) for document in documents]


async def delete_documents_of_file(ctx: Context, file_id: str) -> None:
    """Delete the documents of a file that is deleted."""
    for document in await ctx.db.all(Document, file_id=file_id):
        await delete(ctx, document)


async def load_counts(ctx: Context, base_id: str | None) -> Counts:
    if base_id is None:
        return Counts()
    row: Any = await ctx.db.first(COUNTS, base_id=base_id)
    return Counts(document_count=row[0], chunk_count=int(row[1] or 0))


async def load_training(ctx: Context, base_id: str | None) -> TrainingProgress:
    """Return the progress of the training from one row, whatever the size of the base."""
    base = await ctx.db.get(KnowledgeBase, base_id) if base_id else None
    return runs.to_progress(base) if base else TrainingProgress()


async def _use_default_model(ctx: Context, base: KnowledgeBase) -> None:
    """Switch a base that has no vectors yet to the current default model.

    Documents indexed without a model are found by their words until they are indexed again.
    """
    await ctx.db.update(base, embedding_model=default_embedding_model(ctx.settings), dimensions=0)


async def _remove(ctx: Context, document: Document) -> None:
    enqueue_erasure(ctx, document.id, document.revision, document.building)
    file = await ctx.db.get(File, document.file_id)
    if file is not None:
        await files.remove(ctx, file)
    await ctx.db.delete(document)


async def _lock_base(ctx: Context, base_id: str) -> KnowledgeBase:
    base = await ctx.db.lock(KnowledgeBase, base_id)
    if base is None:
        raise RecordGone
    return base


async def _lock_base_and_document(ctx: Context, document: Document) -> tuple[KnowledgeBase, Document]:
    """Lock the base and the document and return their current state."""
    base = await ctx.db.lock(KnowledgeBase, document.base_id)
    locked = await ctx.db.lock(Document, document.id)
    if base is None or locked is None:
        raise DocumentNotFound
    return base, locked


async def _bump_generation(ctx: Context, base: KnowledgeBase) -> None:
    """Invalidate cached indexes of the base."""
    await ctx.db.update(base, generation=base.generation + 1)
