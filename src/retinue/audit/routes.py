from typing import Annotated

from retinue.audit import queries, service, streams
from retinue.audit.errors import AuditStreamNotFound, TooManyAuditStreams
from retinue.audit.models import AuditStream
from retinue.audit.schemas import (
    AuditExportQuery,
    AuditKeys,
    AuditList,
    AuditPage,
    AuditStreamCreate,
    AuditStreamOut,
    AuditStreamTest,
    AuditStreamUpdate,
    AuditVerdict,
    NewAuditStream,
)
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import ByteStream
from retinue.kit.http.routing import PUBLIC, Routes, path_loader
from retinue.kit.lists import Page, PageQuery

routes = Routes("/api/v1/audit", tag="audit")
keys_routes = Routes("", tag="audit")

StreamById = Annotated[AuditStream, path_loader(AuditStream, "stream_id", AuditStreamNotFound)]


@routes.get("", requires="audit:read")
async def list_audit(ctx: Context, query: AuditList) -> AuditPage:
    """List the tenant's audit log, newest first, with the head of its chain.

    With `after`, rows with a higher sequence number, oldest first: so a program reads on from where it was.
    """
    return await queries.page(ctx, query)


@routes.get("/verify", requires="audit:read", cost="execute")
async def verify_audit(ctx: Context) -> AuditVerdict:
    """Verify the whole chain: whether a row was changed, removed, added or reordered."""
    return await service.verify(ctx)


@routes.get("/export", requires="audit:read", cost="execute", errors=(VaultSealed,))
async def export_audit(ctx: Context, query: AuditExportQuery) -> ByteStream:
    """Download the rows of a period, oldest first; the export is itself a row of the log.

    `jsonl` ends with a signed manifest, so that `retinue audit check` finds every change without the server.
    """
    return await service.export(ctx, query)


@routes.get("/streams", requires="audit:read")
async def list_audit_streams(ctx: Context, query: PageQuery) -> Page[AuditStreamOut]:
    """List the receivers of the audit log, with how far behind each of them is."""
    return await streams.page(ctx, query)


@routes.post("/streams", requires="audit:write", status=201, errors=(TooManyAuditStreams, VaultSealed))
async def create_audit_stream(ctx: Context, body: AuditStreamCreate) -> NewAuditStream:
    """Send the rows of the audit log to a webhook, in order and at least once.

    Batches of up to 500 rows are posted as a JSON array, signed like webhooks; `secret` is shown only here. A
    receiver that fails gets the same rows again, after 5 seconds at first and after an hour at most.
    """
    return await streams.create(ctx, body)


@routes.get("/streams/{stream_id}", requires="audit:read")
async def get_audit_stream(ctx: Context, stream: StreamById) -> AuditStreamOut:
    """Return one receiver of the audit log."""
    return await streams.render_stream(ctx, stream)


@routes.patch("/streams/{stream_id}", requires="audit:write", errors=(VaultSealed,))
async def update_audit_stream(ctx: Context, stream: StreamById, body: AuditStreamUpdate) -> AuditStreamOut:
    """Change the given properties of a stream; it goes on from where it was, at once."""
    return await streams.update(ctx, stream, body)


@routes.delete("/streams/{stream_id}", requires="audit:write", status=204)
async def delete_audit_stream(ctx: Context, stream: StreamById) -> None:
    """Delete a stream; its receiver gets nothing more."""
    await streams.delete(ctx, stream)


@routes.post(
    "/streams/{stream_id}/test",
    requires="audit:write",
    cost="execute",
    calls_out=True,
    idempotent=False,
    errors=(VaultSealed,),
)
async def test_audit_stream(ctx: Context, stream: StreamById) -> AuditStreamTest:
    """Post an empty, signed batch and report what the receiver answers."""
    return await streams.test(ctx, stream)


@keys_routes.get("/.well-known/retinue-audit-keys.json", requires=PUBLIC, errors=(VaultSealed,))
async def get_audit_keys(ctx: Context) -> AuditKeys:
    """Return the public keys that verify exports of the audit log, as a JSON Web Key Set."""
    return service.public_keys(ctx)
