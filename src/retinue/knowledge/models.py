from enum import StrEnum
from typing import Annotated

from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, TenantRecord, index_equal, table
from retinue.kit.db.word_index import word_index
from retinue.kit.json_types import JsonObject


class TrainingStatus(StrEnum):
    idle = "idle"
    training = "training"
    completed = "completed"
    partial = "partial"
    failed = "failed"


@table("knowledge_bases", prefix="kb")
class KnowledgeBase(TenantRecord, kw_only=True):
    """Documents that are searched together, all embedded by one model.

    Without `embedding_model` they are searched by words alone. `owner_id` is the agent it was created for.
    `generation` counts changes of the searchable content, which invalidates cached indexes. A run lasts from
    the first waiting document to the last one that ends; its counts belong to the run, not to the base.
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
    run_error: JsonObject | None = None
    run_started_at: Instant | None = None
    run_finished_at: Instant | None = None


class DocumentStatus(StrEnum):
    pending = "pending"
    indexing = "indexing"
    indexed = "indexed"
    failed = "failed"


@table(
    "documents",
    prefix="doc",
    indexes=[("tenant_id", "base_id", "created_at"), ("status", "updated_at")],
    extra=index_equal("status", DocumentStatus.failed.value, "tenant_id", "updated_at"),
)
class Document(TenantRecord, kw_only=True):
    """`revision` is searched; `building` is the revision being written that will replace it.

    A document that is reindexed stays searchable as it was until the new revision is complete.
    """

    base_id: Annotated[str, Ref(KnowledgeBase, cascade=True)]
    name: str
    mime_type: str
    size_bytes: int
    file_id: str
    status: DocumentStatus = DocumentStatus.pending
    error: JsonObject | None = None
    chunk_count: int = 0
    metadata: JsonObject
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
    """A passage of a document; it has no foreign key, because chunks are erased in small steps.

    `number` combines revision and position, and is also the row number in the word index.
    """

    document_id: str
    number: int
    text: str
    page: int | None = None
    heading: str | None = None


@table("chunk_vectors", prefix="chv", unique=[("tenant_id", "document_id", "first_number")])
class ChunkVectors(TenantRecord, kw_only=True):
    """The vectors of consecutive chunks as float32 of length one, in one row because that loads faster."""

    document_id: str
    first_number: int
    count: int
    vectors: bytes


chunk_words = word_index("chunk_words")
