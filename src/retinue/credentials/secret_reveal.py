"""Revealing secrets: the audit entry is written before the secret is returned."""

import structlog

from retinue.credentials import access_rules
from retinue.credentials.errors import AuditUnavailable
from retinue.credentials.events import CredentialAccessRefused, CredentialEvent, CredentialRevealed
from retinue.credentials.models import Credential
from retinue.credentials.schemas import Revealed
from retinue.credentials.sealed_secrets import decrypt_secrets
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, RetinueError

log = structlog.get_logger("retinue.credentials")

_MAX_REVEALS_PER_MINUTE = 120


async def reveal(ctx: Context, credential: Credential) -> Revealed:
    """Return the secrets if the caller may reveal them; the audit entry is committed first."""
    await _require_within_limit(ctx)
    if not await access_rules.may_reveal(ctx, credential):
        refused = CredentialAccessRefused.about(credential, via={})
        await _audit(ctx, refused, reason="forbidden")
        raise Forbidden(access_rules.REVEAL_PERMISSION, ctx.principal.role)
    try:
        secrets = decrypt_secrets(ctx, credential)
    except RetinueError as error:
        await _audit(ctx, CredentialRevealed.about(credential, keys=[]), reason=error.code)
        raise
    await _audit(ctx, CredentialRevealed.about(credential, keys=sorted(secrets)))
    return Revealed.of(credential, secrets=secrets, revealed_at=ctx.now)


async def _require_within_limit(ctx: Context) -> None:
    decision = await ctx.instance.limiter.hit_window(
        f"reveal:{ctx.principal.id}", _MAX_REVEALS_PER_MINUTE, 60
    )
    if not decision.allowed:
        raise decision.refusal()


async def _audit(ctx: Context, event: CredentialEvent, *, reason: str | None = None) -> None:
    try:
        async with ctx.unit() as unit:
            unit.emit(event, success=reason is None, reason=reason)
    except Exception as error:
        log.exception("audit_entry_not_stored")
        raise AuditUnavailable from error
