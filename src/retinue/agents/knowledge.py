"""What an agent knows: the documents it was trained with, seen through the agent they belong to."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.adapters.documents import KINDS, extension
from retinue.agents.models import Agent
from retinue.agents.service import hold
from retinue.files import service as files
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, UnsupportedFileType
from retinue.kit.http.uploads import FormData, UploadedFile
from retinue.kit.lists import ListQuery, Page
from retinue.kit.schemas import Schema
from retinue.knowledge import retrieval
from retinue.knowledge import service as knowledge
from retinue.knowledge.errors import DocumentNotFound
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.knowledge.queries import DOCUMENTS
from retinue.knowledge.retrieval import MOST_PASSAGES, Passage

UPLOAD_FIELDS = ("files", "files[]", "file")

_PREVIEW_CHARACTERS = 300
_MOST_METADATA_BYTES = 4096

Scalar = str | int | float | bool | None


class DocumentList(ListQuery, kw_only=True):
    status: DocumentStatus | None = None


class DocumentSummary(Schema, kw_only=True):
    id: str
    name: str
    status: DocumentStatus


class TrainingStarted(Schema, kw_only=True):
    status: str = "training"
    document_count: int
    message: str
    job_id: str
    documents: list[DocumentSummary]


class DocumentProblem(Schema, kw_only=True):
    code: str
    message: str


class DocumentOut(DocumentSummary, kw_only=True):
    """`chunks_done` of `chunks_total` says how far the indexing has come."""

    mime_type: str
    size_bytes: int
    error: DocumentProblem | None
    chunk_count: int
    chunks_done: int
    chunks_total: int
    metadata: dict[str, Any]
    enabled: bool
    created_at: Instant
    updated_at: Instant
    indexed_at: Instant | None


class DocumentUpdate(Schema, kw_only=True):
    """A document that is not enabled stays, but is not searched."""

    metadata: dict[str, Any] | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class KnowledgeQuery(Schema, kw_only=True):
    """`filters` are values that the metadata of a document must have, or its `document_id`."""

    query: Annotated[str, Meta(min_length=1, max_length=32_000)]
    top_k: Annotated[int, Meta(ge=1, le=MOST_PASSAGES)] = 5
    filters: Annotated[dict[str, Scalar], Meta(max_length=20)] | None = None


class PassageOut(Schema, kw_only=True):
    document_id: str
    document_name: str
    chunk_id: str
    chunk_preview: str
    relevance_score: float
    page: int | None
    heading: str | None


async def train(ctx: Context, agent: Agent, form: FormData) -> TrainingStarted:
    """Keep the files, and ask for them to be indexed; their bytes are durable before anything names them."""
    uploads = _documents_in(form)
    kept = [
        await files.keep(
            ctx,
            upload,
            purpose=knowledge.PURPOSE,
            filename=upload.filename,
            mime_type=KINDS[extension(upload.filename) or ""],
        )
        for upload in uploads
    ]
    held = await hold(ctx, agent.id)
    if held.knowledge_base_id is None:
        base = await knowledge.create_base(ctx, owner_id=held.id)
        await ctx.db.update(held, knowledge_base_id=base.id)
    assert held.knowledge_base_id is not None
    documents = await knowledge.add(ctx, held.knowledge_base_id, kept)
    return await _started(ctx, held.knowledge_base_id, documents)


def _documents_in(form: FormData) -> list[UploadedFile]:
    uploads = [upload for upload in form.files if upload.field in UPLOAD_FIELDS]
    if not uploads:
        raise Invalid({"files": "At least one file is required."})
    for upload in uploads:
        if extension(upload.filename) is None:
            raise UnsupportedFileType(
                "This type of file cannot be learned from; known are PDF, TXT, DOCX, MD and CSV.",
                details={"filename": upload.filename, "accepted": sorted(KINDS)},
            )
    return uploads


async def _started(ctx: Context, base_id: str, documents: Sequence[Document]) -> TrainingStarted:
    base = await ctx.db.get(KnowledgeBase, base_id)
    counts = await knowledge.counts(ctx, base_id)
    number = len(documents)
    return TrainingStarted(
        document_count=counts.document_count,
        message=f"Training has started with {number} document{'' if number == 1 else 's'}.",
        job_id=base.run_id if base else "",
        documents=[DocumentSummary.of(document) for document in documents],
    )


async def list_documents(ctx: Context, agent: Agent, query: DocumentList) -> Page[DocumentOut]:
    found = await DOCUMENTS.page(ctx.db, query, base_id=agent.knowledge_base_id or "")
    return found.shown(shown)


async def fetch_document(ctx: Context, agent: Agent, document_id: str) -> Document:
    """A document of this agent; one of another agent is not there."""
    found = await ctx.db.get(Document, document_id)
    if found is None or found.base_id != agent.knowledge_base_id:
        raise DocumentNotFound
    return found


async def update_document(ctx: Context, agent: Agent, document_id: str, body: DocumentUpdate) -> DocumentOut:
    document = await fetch_document(ctx, agent, document_id)
    metadata = None if isinstance(body.metadata, UnsetType) else body.metadata
    if metadata is not None and len(msgspec.json.encode(metadata)) > _MOST_METADATA_BYTES:
        raise Invalid({"metadata": f"must be at most {_MOST_METADATA_BYTES} bytes"})
    enabled = None if isinstance(body.enabled, UnsetType) else body.enabled
    return shown(await knowledge.change(ctx, document, metadata=metadata, enabled=enabled))


async def reindex_document(ctx: Context, agent: Agent, document_id: str) -> DocumentOut:
    return shown(await knowledge.reindex(ctx, await fetch_document(ctx, agent, document_id)))


async def delete_document(ctx: Context, agent: Agent, document_id: str) -> None:
    await knowledge.delete(ctx, await fetch_document(ctx, agent, document_id))


async def search(ctx: Context, agent: Agent, body: KnowledgeQuery) -> list[PassageOut]:
    found = await retrieval.search(
        ctx, agent.knowledge_base_id, body.query, top_k=body.top_k, filters=body.filters
    )
    return [_passage(passage) for passage in found]


def _passage(passage: Passage) -> PassageOut:
    return PassageOut.of(
        passage, chunk_preview=passage.text[:_PREVIEW_CHARACTERS], relevance_score=passage.score
    )


def shown(document: Document) -> DocumentOut:
    problem = DocumentProblem(**document.error) if document.error else None
    return DocumentOut.of(document, enabled=document.is_enabled, error=problem)
