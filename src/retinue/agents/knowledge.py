"""The documents an agent was trained with, accessed through that agent."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.adapters.documents import MIME_TYPES_BY_EXTENSION, find_extension
from retinue.agents.models import Agent
from retinue.agents.service import lock_agent
from retinue.files import service as files
from retinue.files.models import File
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, UnsupportedFileType
from retinue.kit.http.batch import BatchAnswer, BatchItem, batch_answer, to_batch_error
from retinue.kit.http.replies import Reply
from retinue.kit.http.unknown_names import WARNINGS_HEADER
from retinue.kit.http.uploads import FormData, UploadedFile
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, Page, PageQuery
from retinue.kit.schema.base import Schema
from retinue.knowledge import retrieval
from retinue.knowledge import service as knowledge
from retinue.knowledge.document_passages import page_of_passages, position_of
from retinue.knowledge.errors import DocumentNotFound
from retinue.knowledge.models import Chunk, Document, DocumentStatus, KnowledgeBase
from retinue.knowledge.queries import DOCUMENTS
from retinue.knowledge.retrieval import (
    BY_WORDS_WARNING,
    MAX_PASSAGES,
    MIN_RELEVANCE,
    TURN_PASSAGES,
    Passage,
)
from retinue.knowledge.terms import shared_terms
from retinue.usage.single_call import SingleCall, spender_of

UPLOAD_FIELDS = ("files", "files[]", "file")

_PREVIEW_CHARACTERS = 300
_MAX_METADATA_BYTES = 4096
# The status that each action has on its own route.
_STATUS = {"enable": 200, "disable": 200, "reindex": 202, "delete": 204}

Scalar = str | int | float | bool | None


class DocumentList(ListQuery, kw_only=True):
    status: DocumentStatus | None = None


class DocumentSummary(Schema, kw_only=True):
    id: str
    name: str
    status: DocumentStatus


class TrainingQuery(Schema, kw_only=True):
    duplicates: Literal["add", "skip"] = "add"


class TrainingStarted(Schema, kw_only=True):
    status: str = "training"
    document_count: int
    message: str
    job_id: str
    documents: list[DocumentSummary]
    already_present: list[DocumentSummary] | UnsetType = UNSET


class DocumentProblem(Schema, kw_only=True):
    code: str
    message: str


class DocumentOut(DocumentSummary, kw_only=True):
    """`chunks_done` of `chunks_total` is the progress of the indexing."""

    mime_type: str
    size_bytes: int
    error: DocumentProblem | None
    chunk_count: int
    chunks_done: int
    chunks_total: int
    metadata: JsonObject
    enabled: bool
    created_at: Instant
    updated_at: Instant
    indexed_at: Instant | None


class DocumentUpdate(Schema, kw_only=True):
    """A disabled document is kept but not searched."""

    metadata: JsonObject | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class KnowledgeQuery(Schema, kw_only=True):
    """`filters` are values a document's metadata must have, or its `document_id`."""

    query: Annotated[str, Meta(min_length=1, max_length=32_000)]
    top_k: Annotated[int, Meta(ge=1, le=MAX_PASSAGES)] = TURN_PASSAGES
    filters: Annotated[dict[str, Scalar], Meta(max_length=20)] | None = None
    explain: bool = False


class PassageExplanation(Schema, kw_only=True):
    """Why a passage was found, and whether a turn with the same question would be given it."""

    text: str
    similarity: float | None
    word_share: float
    matched_terms: list[str]
    is_given: bool


class PassageOut(Schema, kw_only=True):
    document_id: str
    document_name: str
    chunk_id: str
    chunk_preview: str
    relevance_score: float
    page: int | None
    heading: str | None
    explanation: PassageExplanation | UnsetType = UNSET


class ChunkOut(Schema, kw_only=True):
    """A passage of a document; `position` counts from 1."""

    id: str
    position: int
    page: int | None
    heading: str | None
    text: str


class DocumentBatch(Schema, kw_only=True):
    """One action for up to 100 documents of an agent."""

    action: Literal["enable", "disable", "reindex", "delete"]
    ids: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(min_length=1, max_length=100)]


async def train(ctx: Context, agent: Agent, form: FormData, query: TrainingQuery) -> TrainingStarted:
    """Store the files and enqueue their indexing; the bytes are durable before any record names them."""
    uploads = _documents_in(form)
    kept = [
        await files.store_content(
            ctx,
            upload,
            purpose=knowledge.FILE_PURPOSE,
            filename=upload.filename,
            mime_type=MIME_TYPES_BY_EXTENSION[find_extension(upload.filename) or ""],
        )
        for upload in uploads
    ]
    base_id = await _require_base(ctx, agent)
    if query.duplicates == "add":
        return await _training_started(ctx, base_id, await knowledge.add_documents(ctx, base_id, kept))
    new, known = await knowledge.split_known(ctx, base_id, kept)
    documents = await knowledge.add_documents(ctx, base_id, new) if new else []
    started = await _training_started(ctx, base_id, documents)
    started.already_present = [DocumentSummary.of(document) for document in known]
    if not documents:
        started.status = "unchanged"
        started.message = "The agent already has documents with this content. Nothing was added."
    return started


async def add_stored_files(ctx: Context, agent: Agent, kept: Sequence[File]) -> list[Document]:
    """Make documents of files that were uploaded before, and enqueue their indexing."""
    return await knowledge.add_documents(ctx, await _require_base(ctx, agent), kept, is_uploaded=True)


async def _require_base(ctx: Context, agent: Agent) -> str:
    locked = await lock_agent(ctx, agent.id)
    if locked.knowledge_base_id is None:
        base = await knowledge.create_base(ctx, owner_id=locked.id)
        await ctx.db.update(locked, knowledge_base_id=base.id)
    assert locked.knowledge_base_id is not None
    return locked.knowledge_base_id


def _documents_in(form: FormData) -> list[UploadedFile]:
    uploads = [upload for upload in form.files if upload.field in UPLOAD_FIELDS]
    if not uploads:
        raise Invalid({"files": "At least one file is required."})
    for upload in uploads:
        if find_extension(upload.filename) is None:
            raise UnsupportedFileType(
                "This file type is not supported. Upload PDF, TXT, DOCX, MD or CSV files.",
                details={"filename": upload.filename, "accepted": sorted(MIME_TYPES_BY_EXTENSION)},
            )
    return uploads


async def _training_started(ctx: Context, base_id: str, documents: Sequence[Document]) -> TrainingStarted:
    base = await ctx.db.get(KnowledgeBase, base_id)
    counts = await knowledge.load_counts(ctx, base_id)
    number = len(documents)
    return TrainingStarted(
        document_count=counts.document_count,
        message=f"Training has started with {number} document{'' if number == 1 else 's'}.",
        job_id=base.run_id if base else "",
        documents=[DocumentSummary.of(document) for document in documents],
    )


async def list_documents(ctx: Context, agent: Agent, query: DocumentList) -> Page[DocumentOut]:
    page = await DOCUMENTS.page(ctx.db, query, base_id=agent.knowledge_base_id or "")
    return page.to_page(render_document)


async def fetch_document(ctx: Context, agent: Agent, document_id: str) -> Document:
    """Return a document of this agent; raise DocumentNotFound for those of other agents."""
    document = await ctx.db.get(Document, document_id)
    if document is None or document.base_id != agent.knowledge_base_id:
        raise DocumentNotFound
    return document


async def update_document(ctx: Context, agent: Agent, document_id: str, body: DocumentUpdate) -> DocumentOut:
    document = await fetch_document(ctx, agent, document_id)
    metadata = None if isinstance(body.metadata, UnsetType) else body.metadata
    if metadata is not None and len(msgspec.json.encode(metadata)) > _MAX_METADATA_BYTES:
        raise Invalid({"metadata": f"must be at most {_MAX_METADATA_BYTES} bytes"})
    enabled = None if isinstance(body.enabled, UnsetType) else body.enabled
    return render_document(await knowledge.change(ctx, document, metadata=metadata, enabled=enabled))


async def reindex_document(ctx: Context, agent: Agent, document_id: str) -> DocumentOut:
    return render_document(await knowledge.reindex(ctx, await fetch_document(ctx, agent, document_id)))


async def delete_document(ctx: Context, agent: Agent, document_id: str) -> None:
    await knowledge.delete(ctx, await fetch_document(ctx, agent, document_id))


async def run_batch(ctx: Context, agent: Agent, body: DocumentBatch) -> BatchAnswer[DocumentOut]:
    """Apply the action to each document in one transaction; an unknown id fails alone."""
    items: list[BatchItem[DocumentOut]] = []
    for index, document_id in enumerate(dict.fromkeys(body.ids)):
        item: BatchItem[DocumentOut] = BatchItem(
            index=index, ref=None, op=body.action, id=document_id, status=_STATUS[body.action], success=True
        )
        try:
            item.result = await _apply(ctx, agent, document_id, body.action)
        except DocumentNotFound as error:
            item.status, item.success, item.error = error.status, False, to_batch_error(error)
        items.append(item)
    return batch_answer(items)


async def _apply(ctx: Context, agent: Agent, document_id: str, action: str) -> DocumentOut | None:
    document = await fetch_document(ctx, agent, document_id)
    if action == "delete":
        await knowledge.delete(ctx, document)
        return None
    if action == "reindex":
        return render_document(await knowledge.reindex(ctx, document))
    return render_document(await knowledge.change(ctx, document, enabled=action == "enable"))


async def list_chunks(ctx: Context, agent: Agent, document_id: str, query: PageQuery) -> Page[ChunkOut]:
    page = await page_of_passages(ctx, await fetch_document(ctx, agent, document_id), query)
    return page.to_page(_chunk)


def _chunk(chunk: Chunk) -> ChunkOut:
    return ChunkOut.of(chunk, position=position_of(chunk))


async def search(ctx: Context, agent: Agent, body: KnowledgeQuery) -> Reply[list[PassageOut]]:
    """Return the passages for a query; an explained search also returns near misses."""
    found = await retrieval.search(
        ctx,
        agent.knowledge_base_id,
        body.query,
        hold=SingleCall(spender_of(ctx, agent.id)),
        top_k=body.top_k,
        filters=body.filters,
        min_relevance=0.0 if body.explain else MIN_RELEVANCE,
    )
    headers = ((WARNINGS_HEADER, BY_WORDS_WARNING),) if found.is_unpaid else ()
    shown_passages = [
        _passage(passage, _explanation(passage, body.query, place) if body.explain else UNSET)
        for place, passage in enumerate(found.passages)
    ]
    return Reply(shown_passages, headers=headers)


def _explanation(passage: Passage, query: str, place: int) -> PassageExplanation:
    return PassageExplanation(
        text=passage.text,
        similarity=passage.similarity,
        word_share=passage.word_share,
        matched_terms=shared_terms(query, f"{passage.heading or ''}\n{passage.text}"),
        is_given=place < TURN_PASSAGES and passage.score >= MIN_RELEVANCE,
    )


def _passage(passage: Passage, explanation: PassageExplanation | UnsetType = UNSET) -> PassageOut:
    return PassageOut.of(
        passage,
        chunk_preview=passage.text[:_PREVIEW_CHARACTERS],
        relevance_score=passage.score,
        explanation=explanation,
    )


def render_document(document: Document) -> DocumentOut:
    problem = DocumentProblem(**document.error) if document.error else None
    return DocumentOut.of(document, enabled=document.is_enabled, error=problem)
