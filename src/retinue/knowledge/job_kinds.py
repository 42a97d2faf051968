"""The jobs that knowledge enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.events.declare import EventOccurred
from retinue.kit.jobs.declare import JobKind, Retry


class DocumentToIndex(msgspec.Struct):
    document_id: str


class TenantToResume(msgspec.Struct):
    """Nothing but the tenant of the job."""


class RevisionToErase(msgspec.Struct):
    document_id: str
    revision: int


INDEX_DOCUMENT = JobKind(
    "knowledge.index_document",
    DocumentToIndex,
    queue="knowledge",
    retry=Retry((0, 10, 60, 300, 900)),
)
RESUME_WAITING = JobKind("knowledge.resume_waiting", TenantToResume, queue="knowledge")
RESUME_AFTER_CHANGE = JobKind("knowledge.resume_after_change", EventOccurred, queue="knowledge")
ERASE_REVISION = JobKind(
    "knowledge.erase_revision",
    RevisionToErase,
    retry=Retry((0, 5, 60, 600, 3600, 21600)),
)
