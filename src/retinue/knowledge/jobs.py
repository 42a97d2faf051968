"""Periodic jobs for every tenant: resume lost indexing, erase orphaned chunks."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.events.declare import EventOccurred
from retinue.kit.jobs.declare import implement, periodic
from retinue.knowledge.chunks import POSITION_BITS, erase_revision
from retinue.knowledge.document_indexer import UNFINISHED_STATUSES, index_document
from retinue.knowledge.job_kinds import (
    ERASE_REVISION,
    INDEX_DOCUMENT,
    RESUME_AFTER_CHANGE,
    RESUME_WAITING,
    DocumentToIndex,
    RevisionToErase,
    TenantToResume,
)
from retinue.knowledge.models import ChunkVectors, Document, DocumentStatus

_BATCH_SIZE = 200
_STALE_SECONDS = 3600
_GRACE_SECONDS = 24 * 3600

_documents, _vectors = Document.__table__, ChunkVectors.__table__
_revision = _vectors.c.first_number.bitwise_rshift(sa.literal(POSITION_BITS, sa.Integer()))

_STALE = Statement(
    sa.select(_documents.c.tenant_id, _documents.c.id)
    .where(
        _documents.c.status.in_([sa.literal(status.value) for status in UNFINISHED_STATUSES]),
        _documents.c.updated_at < sa.bindparam("before", type_=_documents.c.updated_at.type),
    )
    .limit(_BATCH_SIZE)
)
_WAITING = Statement(
    sa.select(_documents.c.id).where(
        _documents.c.status == sa.literal(DocumentStatus.pending.value), _documents.c.error.is_not(None)
    )
)
_ORPHANS = Statement(
    sa.select(_vectors.c.tenant_id, _vectors.c.document_id, _revision)
    .distinct()
    .where(
        _vectors.c.created_at < sa.bindparam("before", type_=_vectors.c.created_at.type),
        ~sa.exists().where(
            _documents.c.tenant_id == _vectors.c.tenant_id,
            _documents.c.id == _vectors.c.document_id,
            sa.or_(_documents.c.revision == _revision, _documents.c.building == _revision),
        ),
    )
    .limit(_BATCH_SIZE)
)


async def resume_indexing(ctx: Context) -> None:
    """Enqueue documents untouched for an hour again, in case their job was lost."""
    async with ctx.unit() as unit:
        stale = await unit.system("documents wait in every tenant").rows(
            _STALE, before=unit.clock.ahead(-_STALE_SECONDS)
        )
    for tenant_id, document_id in stale:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(INDEX_DOCUMENT, DocumentToIndex(document_id), dedupe_key=f"index:{document_id}")


async def resume_waiting(ctx: Context, _payload: TenantToResume | EventOccurred) -> None:
    """Enqueue the tenant's documents that no budget paid for; what is still unpaid waits again."""
    for (document_id,) in await ctx.db.rows(_WAITING):
        ctx.defer(INDEX_DOCUMENT, DocumentToIndex(document_id), dedupe_key=f"index:{document_id}")


async def sweep_chunks(ctx: Context) -> None:
    """Erase chunks that no document refers to, in case their erasure job was given up."""
    async with ctx.unit() as unit:
        left = await unit.system("documents are deleted in every tenant").rows(
            _ORPHANS, before=unit.clock.ahead(-_GRACE_SECONDS)
        )
    for tenant_id, document_id, revision in left:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(ERASE_REVISION, RevisionToErase(document_id, revision), dedupe_key=f"erase:{revision}")


JOBS = (
    periodic(
        "knowledge.resume_indexing",
        resume_indexing,
        every_s=600,
        transactional=False,
    ),
    periodic(
        "knowledge.sweep_chunks",
        sweep_chunks,
        every_s=24 * 3600,
        timeout_s=600,
        transactional=False,
    ),
    implement(INDEX_DOCUMENT, index_document, at_once=2, timeout_s=4 * 3600, transactional=False),
    implement(RESUME_WAITING, resume_waiting),
    implement(RESUME_AFTER_CHANGE, resume_waiting),
    implement(ERASE_REVISION, erase_revision, timeout_s=1800, transactional=False),
)
