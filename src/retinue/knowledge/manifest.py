import sqlalchemy as sa

from retinue.files.service import REFERENCE as FILE
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.kit.events.declare import Listener
from retinue.knowledge.events import TrainingCompleted, TrainingFailed
from retinue.knowledge.job_kinds import RESUME_AFTER_CHANGE
from retinue.knowledge.jobs import JOBS
from retinue.knowledge.models import Chunk, ChunkVectors, Document, KnowledgeBase
from retinue.knowledge.service import delete_documents_of_file, find_documents_of_file
from retinue.knowledge.vector_index import IndexCache

# What may pay for documents that wait: a raised or deleted budget, a price, or another key.
_PAYING_EVENTS = (
    "system.budget.updated",
    "system.budget.deleted",
    "system.api_key.created",
    "system.api_key.updated",
    "system.model_price.set",
)

manifest = Manifest(
    name="knowledge",
    records=(KnowledgeBase, Document, Chunk, ChunkVectors),
    events=(TrainingCompleted, TrainingFailed),
    jobs=JOBS,
    listeners=tuple(Listener(name, RESUME_AFTER_CHANGE) for name in _PAYING_EVENTS),
    references=(
        Reference(to=FILE, kind="documents", find=find_documents_of_file, detach=delete_documents_of_file),
    ),
    process_state=(ProcessState(IndexCache, lambda _: IndexCache()),),
    search_sources=(
        SearchSource(
            kind="document",
            requires="agents:read",
            record=Document,
            name=Document.__table__.c.name,
            parent=sa.select(KnowledgeBase.__table__.c.owner_id)
            .where(KnowledgeBase.__table__.c.id == Document.__table__.c.base_id)
            .scalar_subquery(),
        ),
    ),
)
