"""Reading a secret: nobody does it without leaving a trace, and the trace is there before the secret is."""

import structlog

from retinue.credentials import access_rules
from retinue.credentials.errors import AuditUnavailable
from retinue.credentials.events import CredentialAccessRefused, CredentialEvent, CredentialRevealed
from retinue.credentials.models import Credential
from retinue.credentials.schemas import Revealed
from retinue.credentials.sealing import stored_secrets
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden

log = structlog.get_logger("retinue.credentials")

_PER_MINUTE = 120


async def reveal(ctx: Context, credential: Credential) -> Revealed:
    """The secrets, for whoever may read them; the audit row is committed before they are returned."""
    await _count(ctx)
    if not await access_rules.may_reveal(ctx, credential):
        refused = CredentialAccessRefused.about(credential, via={})
        await _record(ctx, refused, reason="forbidden")
        raise Forbidden(access_rules.REVEAL, ctx.principal.role)
    secrets = stored_secrets(ctx, credential)
    await _record(ctx, CredentialRevealed.about(credential, keys=sorted(secrets)))
    return Revealed.of(credential, secrets=secrets, revealed_at=ctx.now)


async def _count(ctx: Context) -> None:
    decision = await ctx.instance.limiter.hit_window(f"reveal:{ctx.principal.id}", _PER_MINUTE, 60)
    if not decision.allowed:
        raise decision.refusal()


async def _record(ctx: Context, event: CredentialEvent, *, reason: str | None = None) -> None:
    try:
        async with ctx.unit() as unit:
            unit.emit(event, success=reason is None, reason=reason)
    except Exception as error:
        log.exception("the audit trail cannot be written")
        raise AuditUnavailable from error
