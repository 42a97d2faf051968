from typing import Annotated

from retinue.credentials import access_rules, audit, revealing, testing
from retinue.credentials import service as credentials
from retinue.credentials.errors import (
    AccessRuleNotFound,
    AuditUnavailable,
    CredentialInUse,
    CredentialNotFound,
    DestinationChanged,
)
from retinue.credentials.kinds import KINDS
from retinue.credentials.models import AccessRule, Credential
from retinue.credentials.queries import page_of_credentials
from retinue.credentials.schemas import (
    AccessGrant,
    AccessRuleOut,
    AuditQuery,
    AuditRecord,
    CredentialCreate,
    CredentialList,
    CredentialOut,
    CredentialSummary,
    CredentialTestResult,
    CredentialTypeOut,
    CredentialUpdate,
    DeleteQuery,
    GlobalAuditQuery,
    Revealed,
    SecretsUpdate,
)
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes, loaded
from retinue.kit.lists import Page
from retinue.kit.references import Referrer

routes = Routes("/v1/credentials", tag="credentials", wrap=True)

CredentialById = Annotated[Credential, loaded(Credential, "credential_id", CredentialNotFound)]
AccessRuleById = Annotated[AccessRule, loaded(AccessRule, "access_id", AccessRuleNotFound)]


@routes.get("", requires="credentials:read", wrap=False)
async def list_credentials(ctx: Context, query: CredentialList) -> Page[CredentialSummary]:
    found = await page_of_credentials(ctx, query)
    return found.shown(lambda credential: CredentialSummary.shown(credential, ctx.now))


@routes.post("", requires="credentials:write", status=201, errors=(VaultSealed,))
async def create_credential(ctx: Context, body: CredentialCreate) -> CredentialOut:
    return CredentialOut.shown(await credentials.create(ctx, body), ctx.now)


@routes.get("/types", requires="credentials:read")
async def list_credential_types(ctx: Context) -> list[CredentialTypeOut]:  # noqa: ARG001
    return [CredentialTypeOut.shown(kind) for kind in KINDS.values()]


@routes.get("/audit", requires="audit:read", wrap=False)
async def list_credentials_audit(ctx: Context, query: GlobalAuditQuery) -> Page[AuditRecord]:
    return await audit.page(ctx, query, query.credential_id)


@routes.get("/{credential_id}", requires="credentials:read")
async def get_credential(ctx: Context, credential: CredentialById) -> CredentialOut:
    return CredentialOut.shown(credential, ctx.now)


@routes.put("/{credential_id}", requires="credentials:write", errors=(DestinationChanged, VaultSealed))
async def update_credential(
    ctx: Context, credential: CredentialById, body: CredentialUpdate
) -> CredentialOut:
    return CredentialOut.shown(await credentials.update(ctx, credential, body), ctx.now)


@routes.delete("/{credential_id}", requires="credentials:write", status=204, errors=(CredentialInUse,))
async def delete_credential(ctx: Context, credential: CredentialById, query: DeleteQuery) -> None:
    await credentials.delete(ctx, credential, is_forced=query.force)


@routes.get("/{credential_id}/reveal", requires="credentials:read", errors=(AuditUnavailable, VaultSealed))
async def reveal_credential(ctx: Context, credential: CredentialById) -> Reply[Revealed]:
    """Takes `credentials:reveal`, or an access rule that lets the caller reveal this credential."""
    return Reply(await revealing.reveal(ctx, credential), headers=(("Vary", "Authorization"),))


@routes.put(
    "/{credential_id}/secrets", requires="credentials:write", errors=(DestinationChanged, VaultSealed)
)
async def update_credential_secrets(
    ctx: Context, credential: CredentialById, body: SecretsUpdate
) -> CredentialOut:
    return CredentialOut.shown(await credentials.update_secrets(ctx, credential, body), ctx.now)


@routes.post(
    "/{credential_id}/test",
    requires="credentials:write",
    calls_out=True,
    errors=(VaultSealed,),
)
async def test_credential(ctx: Context, credential: CredentialById) -> CredentialTestResult:
    return await testing.test(ctx, credential)


@routes.get("/{credential_id}/usage", requires="credentials:read")
async def get_credential_usage(ctx: Context, credential: CredentialById) -> dict[str, list[Referrer]]:
    return await credentials.usage(ctx, credential)


@routes.get("/{credential_id}/audit", requires="credentials:read", wrap=False)
async def list_credential_audit(
    ctx: Context, credential: CredentialById, query: AuditQuery
) -> Page[AuditRecord]:
    return await audit.page(ctx, query, credential.id)


@routes.get("/{credential_id}/access", requires="credentials:read")
async def list_credential_access(ctx: Context, credential: CredentialById) -> list[AccessRuleOut]:
    rules = await ctx.db.all(AccessRule, credential_id=credential.id, order_by=("created_at", "id"))
    return [AccessRuleOut.of(rule) for rule in rules]


@routes.post(
    "/{credential_id}/access",
    requires="credentials:write",
    status=201,
    other_status=200,
)
async def grant_credential_access(
    ctx: Context, credential: CredentialById, body: AccessGrant
) -> Reply[AccessRuleOut]:
    rule, is_new = await access_rules.grant(ctx, credential, body)
    return Reply(AccessRuleOut.of(rule), status=201 if is_new else 200)


@routes.delete("/{credential_id}/access/{access_id}", requires="credentials:write", status=204)
async def revoke_credential_access(ctx: Context, credential: CredentialById, rule: AccessRuleById) -> None:
    await access_rules.revoke(ctx, credential, rule)
