"""Knowledge bases and their documents: what is added, changed and deleted, and how training stands.

Whoever changes a base holds it first and its document then, so that no two wait for each other.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.files import service as files
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.db.errors import RecordGone
from retinue.kit.references import Referrer
from retinue.knowledge import training as runs
from retinue.knowledge.chunks import erase_later
from retinue.knowledge.embedding import model_for
from retinue.knowledge.errors import DocumentNotFound
from retinue.knowledge.indexing import UNFINISHED, index_later
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.knowledge.queries import COUNTS
from retinue.knowledge.training import Training

PURPOSE = "knowledge"


class Counts(msgspec.Struct, frozen=True):
    document_count: int = 0
    chunk_count: int = 0


async def create_base(ctx: Context, *, owner_id: str = "") -> KnowledgeBase:
    """`owner_id` is the agent it is for, which the events of its training name."""
    return await ctx.db.insert(KnowledgeBase(owner_id=owner_id, embedding_model=model_for(ctx.settings)))


async def add(ctx: Context, base_id: str, kept: Sequence[File]) -> list[Document]:
    """Take up files whose bytes are stored already (`files.keep`), and ask for them to be indexed."""
    base = await _held(ctx, base_id)
    if not await ctx.db.count(Document, base_id=base.id):
        # Nothing has vectors yet, so the model may be another one than when the base was made.
        await ctx.db.update(base, embedding_model=model_for(ctx.settings), dimensions=0)
    documents = []
    for file in kept:
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
        index_later(ctx, document)
    await runs.start(ctx, base, len(documents))
    return documents


async def change(
    ctx: Context, document: Document, *, metadata: dict[str, Any] | None = None, enabled: bool | None = None
) -> Document:
    """Other metadata, or whether it is searched; what is not given stays."""
    base, document = await _held_with(ctx, document)
    changed: dict[str, Any] = {}
    if metadata is not None and metadata != document.metadata:
        changed["metadata"] = metadata
    if enabled is not None and enabled != document.is_enabled:
        changed["is_enabled"] = enabled
    if changed:
        await ctx.db.update(document, **changed)
        await _changed(ctx, base)
    return document


async def reindex(ctx: Context, document: Document) -> Document:
    """Read it again, and look for it as it was meanwhile; one that waits or is being indexed goes on."""
    base, document = await _held_with(ctx, document)
    if document.status not in UNFINISHED:
        await ctx.db.update(document, status=DocumentStatus.pending, error=None)
        index_later(ctx, document)
        await runs.start(ctx, base, 1)
    return document


async def delete(ctx: Context, document: Document) -> None:
    """It is not found any more with this transaction; its rows and its bytes go after it."""
    base, document = await _held_with(ctx, document)
    await _remove(ctx, document)
    await _changed(ctx, base)
    if document.status in UNFINISHED:
        await runs.document_withdrawn(ctx, base)


async def delete_base(ctx: Context, base_id: str) -> None:
    """With everything in it, and without a word about a run that was on."""
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
    """What was learned from a file goes with it."""
    for document in await ctx.db.all(Document, file_id=file_id):
        await delete(ctx, document)


async def counts(ctx: Context, base_id: str | None) -> Counts:
    if base_id is None:
        return Counts()
    found: Any = await ctx.db.first(COUNTS, base_id=base_id)
    return Counts(document_count=found[0], chunk_count=int(found[1] or 0))


async def training(ctx: Context, base_id: str | None) -> Training:
    """How the training stands: one row, whatever the base holds."""
    base = await ctx.db.get(KnowledgeBase, base_id) if base_id else None
    return runs.shown(base) if base else Training()


async def _remove(ctx: Context, document: Document) -> None:
    erase_later(ctx, document.id, document.revision, document.building)
    file = await ctx.db.get(File, document.file_id)
    if file is not None:
        await files.remove(ctx, file)
    await ctx.db.delete(document)


async def _held(ctx: Context, base_id: str) -> KnowledgeBase:
    base = await ctx.db.lock(KnowledgeBase, base_id)
    if base is None:
        raise RecordGone
    return base


async def _held_with(ctx: Context, document: Document) -> tuple[KnowledgeBase, Document]:
    """The base and the document as they are now, held against other writers."""
    base = await ctx.db.lock(KnowledgeBase, document.base_id)
    locked = await ctx.db.lock(Document, document.id)
    if base is None or locked is None:
        raise DocumentNotFound
    return base, locked


async def _changed(ctx: Context, base: KnowledgeBase) -> None:
    """Whoever remembers the base reads it again."""
    await ctx.db.update(base, generation=base.generation + 1)
