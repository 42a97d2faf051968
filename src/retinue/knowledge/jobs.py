"""What is looked after in every tenant: documents whose job was lost, and rows that no document has."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.knowledge.chunks import POSITION_BITS, RevisionToErase, erase_revision
from retinue.knowledge.indexing import UNFINISHED, DocumentToIndex, index_document
from retinue.knowledge.models import ChunkVectors, Document

_BATCH = 200
_STALE_S = 3600
_GRACE_S = 24 * 3600

_documents, _vectors = Document.__table__, ChunkVectors.__table__
_revision = _vectors.c.first_number.bitwise_rshift(sa.literal(POSITION_BITS, sa.Integer()))

_STALE: Statement[Any] = Statement(
    sa.select(_documents.c.tenant_id, _documents.c.id)
    .where(
        _documents.c.status.in_([sa.literal(status.value) for status in UNFINISHED]),
        _documents.c.updated_at < sa.bindparam("before", type_=_documents.c.updated_at.type),
    )
    .limit(_BATCH)
)
_ORPHANS: Statement[Any] = Statement(
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
    .limit(_BATCH)
)


@job(every_s=600, transactional=False)
async def resume_indexing(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """A document that nobody has touched for an hour is asked for again, should its job have been lost."""
    async with ctx.unit() as unit:
        stale = await unit.system("documents wait in every tenant").rows(
            _STALE, before=unit.clock.ahead(-_STALE_S)
        )
    for tenant_id, document_id in stale:
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            unit.defer(index_document, DocumentToIndex(document_id), dedupe_key=f"index:{document_id}")


@job(every_s=24 * 3600, timeout_s=600, transactional=False)
async def sweep_chunks(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """What a deleted document has left is erased, should the job that was to do it have been given up."""
    async with ctx.unit() as unit:
        left = await unit.system("documents are deleted in every tenant").rows(
            _ORPHANS, before=unit.clock.ahead(-_GRACE_S)
        )
    for tenant_id, document_id, revision in left:
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            unit.defer(erase_revision, RevisionToErase(document_id, revision), dedupe_key=f"erase:{revision}")
