"""Credentials: create, update, rotate and delete them. Secrets are never returned here."""

from msgspec import UNSET

from retinue.credentials import access_rules, destinations, metadata
from retinue.credentials.errors import CredentialInUse, DestinationChanged
from retinue.credentials.events import (
    CredentialCreated,
    CredentialDeleted,
    CredentialSecretsUpdated,
    CredentialUpdated,
)
from retinue.credentials.kinds import validate_secrets, values_to_redact
from retinue.credentials.models import Credential
from retinue.credentials.queries import lock_credential
from retinue.credentials.schemas import CredentialCreate, CredentialUpdate, SecretsUpdate
from retinue.credentials.sealed_secrets import decrypt_secrets, sealed_columns
from retinue.kit.context import Context, references
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.validation import read_expiry

REFERENCE = "credential"
"""Target of references from other domains (`kit.context.references`)."""

_EMPTY_USAGE: dict[str, list[references.Referrer]] = {"tools": [], "channels": [], "api_keys": []}


async def create(ctx: Context, body: CredentialCreate) -> Credential:
    secrets, beside = _without_nulls(body.secrets), body.metadata or {}
    validate_secrets(body.type, secrets)
    metadata.validate_metadata(ctx, beside)
    credential = Credential(
        name=body.name,
        type=body.type,
        description=body.description or "",
        metadata=beside,
        destinations=destinations.destinations_for(body.type, secrets, beside),
        expires_at=read_expiry(body.expires_at, ctx.now),
        created_by=ctx.principal.id,
        entered_by=ctx.principal.id,
        **sealed_columns(secrets),
    )
    _refuse_shown_secrets(credential, secrets)
    await ctx.db.insert(credential)
    ctx.emit(CredentialCreated.about(credential, type=credential.type))
    return credential


async def update(ctx: Context, credential: Credential, body: CredentialUpdate) -> Credential:
    """Change the fields that are sent, including secrets."""
    if body.type is not UNSET and body.type is not credential.type:
        raise Invalid({"type": "cannot be changed"})
    locked = await lock_credential(ctx, credential.id)
    secrets = decrypt_secrets(ctx, locked)
    if body.secrets is not UNSET:
        secrets = await _replace_secrets(ctx, locked, secrets, SecretsUpdate(secrets=body.secrets))
    changes = _changes(ctx, locked, body)
    changed = [name for name, value in changes.items() if getattr(locked, name) != value]
    if "metadata" in changes:
        metadata.validate_metadata(ctx, changes["metadata"])
        # ADR 8: destinations in the metadata take effect once somebody who knows the secrets saves them.
        changes["destinations"] = await _destinations_after_metadata(
            ctx, locked, secrets, changes["metadata"]
        )
    if "expires_at" in changed:
        changes["expiry_announced"] = None
    if changed or changes.get("destinations", locked.destinations) != locked.destinations:
        await ctx.db.update(locked, **changes)
        ctx.emit(CredentialUpdated.about(locked, changed=changed))
    _refuse_shown_secrets(locked, secrets)
    return locked


def _changes(ctx: Context, locked: Credential, body: CredentialUpdate) -> JsonObject:
    changes = {name: value for name, value in sent_fields(body).items() if name not in {"type", "secrets"}}
    if "description" in changes:
        changes["description"] = changes["description"] or ""
    if "metadata" in changes:
        changes["metadata"] = changes["metadata"] or {}
    if changes.get("expires_at", locked.expires_at) != locked.expires_at:
        changes["expires_at"] = read_expiry(changes["expires_at"], ctx.now)
    return changes


async def _destinations_after_metadata(
    ctx: Context, locked: Credential, secrets: JsonObject, beside: JsonObject
) -> list[str]:
    """Return the destinations; metadata changes them only if the caller knows the secrets."""
    if not await access_rules.knows_secrets(ctx, locked):
        return locked.destinations
    before = destinations.destinations_for(locked.type, secrets, locked.metadata)
    return destinations.rebind(locked, before, destinations.destinations_for(locked.type, secrets, beside))


async def update_secrets(ctx: Context, credential: Credential, body: SecretsUpdate) -> Credential:
    locked = await lock_credential(ctx, credential.id)
    after = await _replace_secrets(ctx, locked, decrypt_secrets(ctx, locked), body)
    _refuse_shown_secrets(locked, after)
    return locked


async def _replace_secrets(
    ctx: Context, locked: Credential, before: JsonObject, body: SecretsUpdate
) -> JsonObject:
    """Store and return the new secrets; only a caller who knows all of them may change the destination."""
    entered = _without_nulls(body.secrets)
    after = _without_nulls({**before, **body.secrets}) if body.merge else entered
    validate_secrets(locked.type, after)
    is_entered = destinations.is_fully_entered(locked.type, entered, after)
    may_move = is_entered or await access_rules.knows_secrets(ctx, locked)
    if not may_move and destinations.changes_destination(locked.type, before, after):
        raise DestinationChanged
    changes: JsonObject = {
        **sealed_columns(after),
        "is_valid": True,
        "version": locked.version + 1,
        "rotated_at": ctx.now,
        "last_tested_at": None,
        "token_expires_at": None,
        "token_renewed_at": None,
        "refresh_failed_at": None,
        "entered_by": _entered_by(ctx, locked, is_entered=is_entered),
    }
    if may_move:
        old, new = (
            destinations.destinations_for(locked.type, secrets, locked.metadata)
            for secrets in (before, after)
        )
        # ADR 8: entering secrets does not approve destinations that somebody else put into the metadata.
        agreed = [origin for origin in new if origin in locked.destinations or origin not in old]
        changes["destinations"] = destinations.rebind(locked, old, agreed)
    await ctx.db.update(locked, **changes)
    touched = {*body.secrets} if body.merge else {*before, *after}
    changed = sorted(touched & {*before, *after})
    ctx.emit(CredentialSecretsUpdated.about(locked, changed=changed, version=locked.version))
    return after


def _entered_by(ctx: Context, locked: Credential, *, is_entered: bool) -> str:
    """Return the user who has entered all the secrets, or an empty string."""
    return ctx.principal.id if is_entered or locked.entered_by == ctx.principal.id else ""


async def delete(ctx: Context, credential: Credential, *, is_forced: bool) -> None:
    """Delete the credential, or raise if it is in use; with force it is detached first."""
    if is_forced:
        # Lock order: referrers before the credential, as when one is attached.
        await references.detach_referrers(ctx, REFERENCE, credential.id)
    locked = await lock_credential(ctx, credential.id)
    users = await usage(ctx, locked)
    if any(users.values()):
        raise CredentialInUse(users)
    await ctx.db.delete(locked)
    ctx.emit(CredentialDeleted.about(locked))


async def usage(ctx: Context, credential: Credential) -> dict[str, list[references.Referrer]]:
    """Return what uses the credential, by kind; the kinds of the specification are always present."""
    return _EMPTY_USAGE | await references.find_referrers(ctx, REFERENCE, credential.id)


def _without_nulls(secrets: JsonObject) -> JsonObject:
    return {name: value for name, value in secrets.items() if value is not None}


def _refuse_shown_secrets(credential: Credential, secrets: JsonObject) -> None:
    shown = {name: getattr(credential, name) for name in ("name", "description", "metadata")}
    metadata.refuse_secrets(values_to_redact(credential.type, secrets), shown)
