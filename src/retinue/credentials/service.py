"""Credentials: put into the vault, changed, rotated and deleted; what they hold is never shown here."""

from typing import Any

from msgspec import UNSET

from retinue.credentials import access_rules, destinations, metadata
from retinue.credentials.errors import CredentialInUse, DestinationChanged
from retinue.credentials.events import (
    CredentialCreated,
    CredentialDeleted,
    CredentialSecretsUpdated,
    CredentialUpdated,
)
from retinue.credentials.expiry import read_expiry
from retinue.credentials.kinds import check_secrets, hidden_values
from retinue.credentials.models import Credential
from retinue.credentials.queries import hold
from retinue.credentials.schemas import CredentialCreate, CredentialUpdate, SecretsUpdate
from retinue.credentials.sealing import sealed, stored_secrets
from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.schemas import given

Json = dict[str, Any]

REFERENCE = "credential"
"""What other domains point at with a `kit.references.Reference`."""

_KINDS_OF_USERS: dict[str, list[references.Referrer]] = {"tools": [], "channels": [], "api_keys": []}


async def create(ctx: Context, body: CredentialCreate) -> Credential:
    secrets, beside = _without_nulls(body.secrets), body.metadata or {}
    check_secrets(body.type, secrets)
    metadata.check(ctx, beside)
    credential = Credential(
        name=body.name,
        type=body.type,
        description=body.description or "",
        metadata=beside,
        destinations=destinations.entered_for(body.type, secrets, beside),
        expires_at=read_expiry(ctx, body.expires_at),
        created_by=ctx.principal.id,
        entered_by=ctx.principal.id,
        **sealed(secrets),
    )
    _refuse_shown_secrets(credential, secrets)
    await ctx.db.insert(credential)
    ctx.emit(CredentialCreated.about(credential, type=credential.type))
    return credential


async def update(ctx: Context, credential: Credential, body: CredentialUpdate) -> Credential:
    """Change what stands beside the secrets, and the secrets where some are given."""
    if body.type is not UNSET and body.type is not credential.type:
        raise Invalid({"type": "cannot be changed"})
    held = await hold(ctx, credential.id)
    secrets = stored_secrets(ctx, held)
    if body.secrets is not UNSET:
        secrets = await _replace_secrets(ctx, held, secrets, SecretsUpdate(secrets=body.secrets))
    changes = _changes(ctx, held, body)
    changed = [name for name, value in changes.items() if getattr(held, name) != value]
    if "metadata" in changes:
        metadata.check(ctx, changes["metadata"])
        # What someone else wrote there holds from when it is written once more by who knows the secrets.
        changes["destinations"] = await _destinations_beside(ctx, held, secrets, changes["metadata"])
    if "expires_at" in changed:
        changes["expiry_announced"] = None
    if changed or changes.get("destinations", held.destinations) != held.destinations:
        await ctx.db.update(held, **changes)
        ctx.emit(CredentialUpdated.about(held, changed=changed))
    _refuse_shown_secrets(held, secrets)
    return held


def _changes(ctx: Context, held: Credential, body: CredentialUpdate) -> Json:
    changes = {name: value for name, value in given(body).items() if name not in {"type", "secrets"}}
    if "description" in changes:
        changes["description"] = changes["description"] or ""
    if "metadata" in changes:
        changes["metadata"] = changes["metadata"] or {}
    if changes.get("expires_at", held.expires_at) != held.expires_at:
        changes["expires_at"] = read_expiry(ctx, changes["expires_at"])
    return changes


async def _destinations_beside(ctx: Context, held: Credential, secrets: Json, beside: Json) -> list[str]:
    """Metadata opens a way for the secrets only where it is written by someone who knows them."""
    if not await access_rules.knows(ctx, held):
        return held.destinations
    before = destinations.entered_for(held.type, secrets, held.metadata)
    return destinations.rebound(held, before, destinations.entered_for(held.type, secrets, beside))


async def update_secrets(ctx: Context, credential: Credential, body: SecretsUpdate) -> Credential:
    held = await hold(ctx, credential.id)
    after = await _replace_secrets(ctx, held, stored_secrets(ctx, held), body)
    _refuse_shown_secrets(held, after)
    return held


async def _replace_secrets(ctx: Context, held: Credential, before: Json, body: SecretsUpdate) -> Json:
    """The secrets there are now; they go elsewhere only if the caller knows every one of them."""
    entered = _without_nulls(body.secrets)
    after = _without_nulls({**before, **body.secrets}) if body.merge else entered
    check_secrets(held.type, after)
    is_entered = destinations.is_entered(held.type, entered, after)
    may_move = is_entered or await access_rules.knows(ctx, held)
    if not may_move and destinations.moves(held.type, before, after):
        raise DestinationChanged
    changes: Json = {
        **sealed(after),
        "is_valid": True,
        "version": held.version + 1,
        "rotated_at": ctx.now,
        "last_tested_at": None,
        "token_expires_at": None,
        "token_renewed_at": None,
        "refresh_failed_at": None,
        "entered_by": _entered_by(ctx, held, is_entered=is_entered),
    }
    if may_move:
        old, new = (destinations.entered_for(held.type, each, held.metadata) for each in (before, after))
        # Who enters a secret has not agreed to places that someone else wrote beside it.
        agreed = [place for place in new if place in held.destinations or place not in old]
        changes["destinations"] = destinations.rebound(held, old, agreed)
    await ctx.db.update(held, **changes)
    touched = {*body.secrets} if body.merge else {*before, *after}
    changed = sorted(touched & {*before, *after})
    ctx.emit(CredentialSecretsUpdated.about(held, changed=changed, version=held.version))
    return after


def _entered_by(ctx: Context, held: Credential, *, is_entered: bool) -> str:
    """Who knows all the secrets after this update: who entered all of them, or nobody for certain."""
    return ctx.principal.id if is_entered or held.entered_by == ctx.principal.id else ""


async def delete(ctx: Context, credential: Credential, *, is_forced: bool) -> None:
    """Refused while anything uses it; with force everything lets go of it first."""
    if is_forced:
        # Who attaches a credential holds these before it, so they come first here as well: nobody deadlocks.
        await references.detach(ctx, REFERENCE, credential.id)
    held = await hold(ctx, credential.id)
    users = await usage(ctx, held)
    if any(users.values()):
        raise CredentialInUse(users)
    await ctx.db.delete(held)
    ctx.emit(CredentialDeleted.about(held))


async def usage(ctx: Context, credential: Credential) -> dict[str, list[references.Referrer]]:
    """What depends on a credential, by kind; the kinds of the contract are always there."""
    return _KINDS_OF_USERS | await references.referrers(ctx, REFERENCE, credential.id)


def _without_nulls(secrets: Json) -> Json:
    return {name: value for name, value in secrets.items() if value is not None}


def _refuse_shown_secrets(credential: Credential, secrets: Json) -> None:
    shown = {name: getattr(credential, name) for name in ("name", "description", "metadata")}
    metadata.refuse_secrets(hidden_values(credential.type, secrets), shown)
