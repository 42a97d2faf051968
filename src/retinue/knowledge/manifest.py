from retinue.files.service import REFERENCE as FILE
from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
from retinue.knowledge.chunks import erase_revision
from retinue.knowledge.events import TrainingCompleted, TrainingFailed
from retinue.knowledge.indexing import index_document
from retinue.knowledge.jobs import resume_indexing, sweep_chunks
from retinue.knowledge.models import Chunk, ChunkVectors, Document, KnowledgeBase
from retinue.knowledge.service import delete_documents_of_file, find_documents_of_file

manifest = Manifest(
    name="knowledge",
    records=(KnowledgeBase, Document, Chunk, ChunkVectors),
    events=(TrainingCompleted, TrainingFailed),
    jobs=(index_document, erase_revision, resume_indexing, sweep_chunks),
    references=(
        Reference(to=FILE, kind="documents", find=find_documents_of_file, detach=delete_documents_of_file),
    ),
)
