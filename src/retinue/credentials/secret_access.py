"""Use of a credential: the only way in which a secret leaves the vault for another service.

Every use is checked against access rules, destination and expiry, and audited, before the secret is
returned. The caller passes `hidden` to a `Redactor`, so that results do not contain the secret.
"""

import msgspec
import sqlalchemy as sa

from retinue.credentials import access_rules, token_refresh
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
)
from retinue.credentials.events import CredentialAccessRefused, CredentialUsed
from retinue.credentials.kinds import KINDS, values_to_redact
from retinue.credentials.models import AccessRule, Credential, CredentialType
from retinue.credentials.sealed_secrets import decrypt_with_defaults
from retinue.kit.context import Context
from retinue.kit.crypto import DecryptFailed
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject

_credentials = Credential.__table__
_MARK_USED = Statement(
    sa.update(_credentials)
    .where(_credentials.c.id == sa.bindparam("credential_id"))
    .values(last_used_at=sa.bindparam("now"))
)


class CredentialPurpose(msgspec.Struct, frozen=True, kw_only=True):
    """The purpose of a use: the integrations involved, and the destination.

    `via` names the tool, agent, workflow, channel and execution by their kind (`{"tool_id": "tool_…"}`).
    `destination` is where the secrets are sent, or empty if that is the server that they name themselves.
    """

    via: dict[str, str]
    destination: str

    def integrations(self, ctx: Context) -> set[access_rules.Integration]:
        """Return everything that takes part in the use; a rule for one of them is enough."""
        return {
            (name.removesuffix("_id"), id) for name, id in self.via.items()
        } | access_rules.integrations_of_caller(ctx)


class OpenedCredential(msgspec.Struct, frozen=True):
    """The secrets of one use; `hidden` lists the texts to redact."""

    type: CredentialType
    secrets: JsonObject
    hidden: list[str]

    def __repr__(self) -> str:
        return f"OpenedCredential({self.type})"


async def open_credential(ctx: Context, credential_id: str, purpose: CredentialPurpose) -> OpenedCredential:
    """Return the secrets for this purpose, in transactions of its own."""
    opened = await _open_if_allowed(ctx, credential_id, purpose)
    if isinstance(opened, OpenedCredential):
        return opened
    await token_refresh.ensure_fresh(ctx, opened)
    # Checked again, because the rules may have changed during the renewal.
    renewed = await _open_if_allowed(ctx, credential_id, purpose, is_renewed=True)
    assert isinstance(renewed, OpenedCredential)
    return renewed


async def _open_if_allowed(
    ctx: Context, credential_id: str, purpose: CredentialPurpose, *, is_renewed: bool = False
) -> OpenedCredential | Credential:
    """Return the secrets, or the credential itself if its access token must be renewed first."""
    async with ctx.unit() as unit:
        credential = await unit.db.get(Credential, credential_id)
        if credential is None:
            raise CredentialNotFound
        refusal = await _find_refusal(unit, credential, purpose)
        if refusal is None:
            if not is_renewed and token_refresh.is_due(credential, unit.now):
                return credential
            try:
                return await _open_and_audit(unit, credential, purpose)
            except DecryptFailed as failed:
                refusal = failed
        event = CredentialAccessRefused.about(credential, via=purpose.via)
        unit.emit(event, success=False, reason=refusal.code)
    raise refusal


async def _open_and_audit(
    ctx: Context, credential: Credential, purpose: CredentialPurpose
) -> OpenedCredential:
    secrets = decrypt_with_defaults(ctx, credential)
    await ctx.db.execute(_MARK_USED, credential_id=credential.id, now=ctx.now)
    ctx.emit(CredentialUsed.about(credential, via=purpose.via))
    return OpenedCredential(credential.type, secrets, values_to_redact(credential.type, secrets))


async def _find_refusal(
    ctx: Context, credential: Credential, purpose: CredentialPurpose
) -> RetinueError | None:
    if credential.is_expired(ctx.now):
        return CredentialUnusable("This credential has expired.")
    rules = await ctx.db.all(AccessRule, credential_id=credential.id)
    if not access_rules.allows_use(rules, purpose.integrations(ctx), ctx.now):
        return CredentialAccessDenied()
    if not may_be_sent(credential, purpose.destination):
        return DestinationChanged()
    return None


def may_be_sent(credential: Credential, destination: str) -> bool:
    """Return whether the destination is allowed; secrets that name their own server may be sent there."""
    if not destination and "host" in KINDS[credential.type].destination:
        return True
    return destination in credential.destinations or not (destination or credential.destinations)
