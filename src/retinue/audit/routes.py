from retinue.audit import queries, service
from retinue.audit.schemas import AuditExportQuery, AuditKeys, AuditList, AuditPage, AuditVerdict
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import ByteStream
from retinue.kit.http.routing import PUBLIC, Routes

routes = Routes("/api/v1/audit", tag="audit")
keys_routes = Routes("", tag="audit")


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


@keys_routes.get("/.well-known/retinue-audit-keys.json", requires=PUBLIC, errors=(VaultSealed,))
async def get_audit_keys(ctx: Context) -> AuditKeys:
    """Return the public keys that verify exports of the audit log, as a JSON Web Key Set."""
    return service.public_keys(ctx)
