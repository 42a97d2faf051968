from collections.abc import AsyncIterator

from retinue.adapters.openapi import DocumentReaderUnavailable
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, VaultSealed
from retinue.kit.http.replies import ByteStream
from retinue.kit.http.routing import MEMBER, Routes
from retinue.tenant_file import service
from retinue.tenant_file.errors import PlanStale
from retinue.tenant_file.schemas import ApplyRequest, ExportQuery, PlanRequest, TenantApplied, TenantPlan

MAX_DOCUMENT_BYTES = 8 * 1024 * 1024
_MAX_KEYS = 200_000
_MIME_TYPES = {"yaml": "application/yaml; charset=utf-8", "json": "application/json"}

routes = Routes("/api/v1/tenant", tag="tenants")


@routes.get("/export", requires=MEMBER, or_service_account=True, cost="execute", errors=(VaultSealed,))
async def export_tenant(ctx: Context, query: ExportQuery) -> ByteStream:
    """Return the tenant's configuration as one file, without secrets.

    Sections that the caller may not read are left out and named in `warnings`, the last entry of the file.
    """
    text = await service.export_file(ctx, query)

    async def chunks() -> AsyncIterator[bytes]:
        yield text.encode()

    return ByteStream(chunks, _MIME_TYPES[query.format], f"tenant.{query.format}")


@routes.post(
    "/plan",
    requires=MEMBER,
    or_service_account=True,
    cost="execute",
    calls_out=True,
    idempotent=False,
    body_limit=MAX_DOCUMENT_BYTES,
    max_keys=_MAX_KEYS,
    errors=(Forbidden, VaultSealed, DocumentReaderUnavailable),
)
async def plan_tenant(ctx: Context, body: PlanRequest) -> TenantPlan:
    """Return what applying a file would change; nothing is changed.

    It fails if and only if the apply would, with the same error, which names the section and the object.
    Each section of the file needs the permissions to read and to write its objects (403 names the one that
    is missing). With `prune`, objects that a section does not name are deleted.
    """
    return await service.plan(ctx, body)


@routes.post(
    "/apply",
    requires=MEMBER,
    or_service_account=True,
    cost="execute",
    body_limit=MAX_DOCUMENT_BYTES,
    max_keys=_MAX_KEYS,
    errors=(Forbidden, PlanStale, VaultSealed, DocumentReaderUnavailable),
)
async def apply_tenant(ctx: Context, body: ApplyRequest) -> TenantApplied:
    """Change the tenant to match a file, in one transaction, as it was planned.

    If the tenant or the file changed since the plan was made, the answer is 409 `plan_stale`. Every change
    is validated, recorded and announced as if it had been made by its own request. No secret is sent to
    another address because of a file.
    """
    return await service.apply(ctx, body, body.plan_hash)
