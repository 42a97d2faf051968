from enum import StrEnum
from typing import Annotated, Any

from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, TenantRecord, table
from retinue.kit.db.word_index import word_index


class TrainingStatus(StrEnum):
    idle = "idle"
    training = "training"
    completed = "completed"
    partial = "partial"
    failed = "failed"


@table("knowledge_bases", prefix="kb")
class KnowledgeBase(TenantRecord, kw_only=True):
    """Documents that are searched together, all with vectors of one model.

    `owner_id` is whoever it was made for. `generation` counts the changes of what can be found, so that
    nobody searches in what he remembers. A run is the time from the first document that waits to the last
    one that ends; its counts are those of the run, not of the base.
    """

    owner_id: str = ""
    embedding_model: str = ""
    dimensions: int = 0
    generation: int = 0
    run_id: str = ""
    run_status: TrainingStatus = TrainingStatus.idle
    run_total: int = 0
    run_done: int = 0
    run_failed: int = 0
    run_error: dict[str, Any] | None = None
    run_started_at: Instant | None = None
    run_finished_at: Instant | None = None


class DocumentStatus(StrEnum):
    pending = "pending"
    indexing = "indexing"
    indexed = "indexed"
    failed = "failed"


@table("documents", prefix="doc", indexes=[("tenant_id", "base_id", "created_at"), ("status", "updated_at")])
class Document(TenantRecord, kw_only=True):
    """`revision` is what is searched; `building` is what will take its place, as far as it is written.

    A reindexed document is found as it was until the new revision is whole.
    """

    base_id: Annotated[str, Ref(KnowledgeBase, cascade=True)]
    name: str
    mime_type: str
    size_bytes: int
    file_id: str
    status: DocumentStatus = DocumentStatus.pending
    error: dict[str, Any] | None = None
    chunk_count: int = 0
    metadata: dict[str, Any]
    is_enabled: bool = True
    revision: int | None = None
    building: int | None = None
    chunks_total: int = 0
    chunks_done: int = 0
    indexed_at: Instant | None = None


@table(
    "chunks", prefix="chk", unique=[("tenant_id", "number")], indexes=[("tenant_id", "document_id", "number")]
)
class Chunk(TenantRecord, kw_only=True):
    """A passage of a document. It has no reference to it: a deleted document's chunks go in small steps.

    `number` is the revision followed by the position, and the row's number in the index of words.
    """

    document_id: str
    number: int
    text: str
    page: int | None = None
    heading: str | None = None


@table("chunk_vectors", prefix="chv", unique=[("tenant_id", "document_id", "first_number")])
class ChunkVectors(TenantRecord, kw_only=True):
    """The vectors of consecutive chunks, as float32 of length one: many rows would take long to read."""

    document_id: str
    first_number: int
    count: int
    vectors: bytes


chunk_words = word_index("chunk_words")
