from typing import Annotated

from retinue.credentials import access_rules, audit, connection_test, secret_reveal
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
    CredentialDeleteQuery,
    CredentialList,
    CredentialOut,
    CredentialSummary,
    CredentialTest,
    CredentialTestResult,
    CredentialTypeOut,
    CredentialUpdate,
    GlobalAuditQuery,
    Revealed,
    SecretsUpdate,
)
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes, path_loader
from retinue.kit.lists import Page

routes = Routes("/v1/credentials", tag="credentials", wrap=True)

CredentialById = Annotated[Credential, path_loader(Credential, "credential_id", CredentialNotFound)]
AccessRuleById = Annotated[AccessRule, path_loader(AccessRule, "access_id", AccessRuleNotFound)]


@routes.get("", requires="credentials:read", wrap=False)
async def list_credentials(ctx: Context, query: CredentialList) -> Page[CredentialSummary]:
    """Return the credentials of the tenant without their secrets, by default newest first."""
    found = await page_of_credentials(ctx, query)
    return found.to_page(lambda credential: CredentialSummary.from_record(credential, ctx.now))


@routes.post("", requires="credentials:write", status=201, errors=(VaultSealed,), versioned=Credential)
async def create_credential(ctx: Context, body: CredentialCreate) -> CredentialOut:
    """Store a credential; its secrets are encrypted.

    Name, description and metadata must not repeat a secret. The secrets may be sent only to the server they
    name and to the hosts in `metadata`, until someone who knows them attaches the credential elsewhere.
    """
    return CredentialOut.from_record(await credentials.create(ctx, body), ctx.now)


@routes.get("/types", requires="credentials:read", cached=True)
async def list_credential_types(ctx: Context) -> list[CredentialTypeOut]:  # noqa: ARG001
    """Return the types of credentials with the keys that their `secrets` take."""
    return [CredentialTypeOut.from_record(kind) for kind in KINDS.values()]


@routes.get("/audit", requires="audit:read", wrap=False)
async def list_credentials_audit(ctx: Context, query: GlobalAuditQuery) -> Page[AuditRecord]:
    """Return the audit trail of all credentials, including deleted ones, newest first."""
    return await audit.page(ctx, query, query.credential_id)


@routes.get("/{credential_id}", requires="credentials:read", versioned=Credential)
async def get_credential(ctx: Context, credential: CredentialById) -> CredentialOut:
    """Return a credential with masked secrets."""
    return CredentialOut.from_record(credential, ctx.now)


@routes.put(
    "/{credential_id}",
    requires="credentials:write",
    errors=(DestinationChanged, VaultSealed),
    versioned=Credential,
)
async def update_credential(
    ctx: Context, credential: CredentialById, body: CredentialUpdate
) -> CredentialOut:
    """Change the fields that are sent.

    `secrets` are merged by key. Changing where the secrets are sent requires that the caller enters all of
    them, entered them before, or may reveal them; otherwise the answer is 409 `destination_changed`.
    """
    return CredentialOut.from_record(await credentials.update(ctx, credential, body), ctx.now)


@routes.delete(
    "/{credential_id}",
    requires="credentials:write",
    status=204,
    errors=(CredentialInUse,),
    versioned=Credential,
)
async def delete_credential(ctx: Context, credential: CredentialById, query: CredentialDeleteQuery) -> None:
    """Delete the credential.

    While anything uses it, the answer is 409 `credential_in_use` with the list of users, unless `force` is
    true.
    """
    await credentials.delete(ctx, credential, is_forced=query.force)


@routes.get("/{credential_id}/reveal", requires="credentials:read", errors=(AuditUnavailable, VaultSealed))
async def reveal_credential(ctx: Context, credential: CredentialById) -> Reply[Revealed]:
    """Return the secrets in clear.

    Takes `credentials:reveal`, or an access rule that lets the caller reveal this credential. Every attempt
    is audited before the answer; at most 120 a minute for each user.
    """
    return Reply(await secret_reveal.reveal(ctx, credential), headers=(("Vary", "Authorization"),))


@routes.put(
    "/{credential_id}/secrets",
    requires="credentials:write",
    errors=(DestinationChanged, VaultSealed),
    versioned=Credential,
)
async def update_credential_secrets(
    ctx: Context, credential: CredentialById, body: SecretsUpdate
) -> CredentialOut:
    """Change the secrets, increase `version` and reset `is_valid` to true and `last_tested_at` to null.

    Changing where the secrets are sent requires that the caller enters all of them, entered them before, or
    may reveal them; otherwise the answer is 409 `destination_changed`.
    """
    return CredentialOut.from_record(await credentials.update_secrets(ctx, credential, body), ctx.now)


@routes.post(
    "/{credential_id}/test",
    requires="credentials:write",
    calls_out=True,
    errors=(DestinationChanged, VaultSealed),
)
async def test_credential(
    ctx: Context, credential: CredentialById, body: CredentialTest
) -> CredentialTestResult:
    """Try the credential at its service and store the result as `is_valid`.

    With `secrets`, these are tried in place of the stored ones, and nothing is stored. They may lead nowhere
    else: otherwise the answer is 409 `destination_changed`.

    Databases, SSH and mail servers get a login, OAuth 2 a token request, and the other types except `custom`
    a GET of `metadata.test_url`. Without anything to try, only the form counts. A failed test is answered
    with 200 too.
    """
    return await connection_test.run_test(ctx, credential, body.secrets)


@routes.get("/{credential_id}/usage", requires="credentials:read")
async def get_credential_usage(ctx: Context, credential: CredentialById) -> dict[str, list[Referrer]]:
    """Return what uses the credential, by kind: at least `tools`, `channels` and `api_keys`."""
    return await credentials.usage(ctx, credential)


@routes.get("/{credential_id}/audit", requires="credentials:read", wrap=False)
async def list_credential_audit(
    ctx: Context, credential: CredentialById, query: AuditQuery
) -> Page[AuditRecord]:
    """Return the audit trail of one credential, newest first."""
    return await audit.page(ctx, query, credential.id)


@routes.get("/{credential_id}/access", requires="credentials:read")
async def list_credential_access(ctx: Context, credential: CredentialById) -> list[AccessRuleOut]:
    """Return the access rules of a credential, oldest first, including expired ones."""
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
    """Add an access rule.

    Without rules every integration of the tenant may use the credential; from the first one on, only those
    that a rule names, except that rules which let users or roles reveal or manage exclude nobody. Granting
    the same again answers 200 and changes only `expires_at`.
    """
    rule, is_new = await access_rules.grant(ctx, credential, body)
    return Reply(AccessRuleOut.of(rule), status=201 if is_new else 200)


@routes.delete("/{credential_id}/access/{access_id}", requires="credentials:write", status=204)
async def revoke_credential_access(ctx: Context, credential: CredentialById, rule: AccessRuleById) -> None:
    """Remove an access rule.

    After the last one, every integration of the tenant may use the credential again.
    """
    await access_rules.revoke(ctx, credential, rule)
