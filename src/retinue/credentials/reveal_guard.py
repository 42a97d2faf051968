"""The guard of every reveal of a secret: so many in a minute, and none without its audit entry."""

import structlog

from retinue.credentials.errors import AuditUnavailable
from retinue.kit.context import Context
from retinue.kit.events.declare import Event

log = structlog.get_logger("retinue.credentials")
_MAX_REVEALS_PER_MINUTE = 120


async def require_reveals_left(ctx: Context) -> None:
    decision = await ctx.instance.limiter.hit_window(
        f"reveal:{ctx.principal.id}", _MAX_REVEALS_PER_MINUTE, 60
    )
    if not decision.allowed:
        raise decision.refusal()


async def record_reveal(ctx: Context, event: Event, *, reason: str | None = None) -> None:
    """Commit the audit entry of a reveal; the reason says why it was refused."""
    try:
        async with ctx.unit() as unit:
            unit.emit(event, success=reason is None, reason=reason)
    except Exception as error:
        log.exception("audit_entry_not_stored")
        raise AuditUnavailable from error
