"""Rate limits for codes, counted per account over all its sessions.

A six-digit code can be guessed, so attempts from unproven addresses share one limit with a growing backoff.
The owner is not held up by them: an address where the account has shown a second factor counts separately,
and so do recovery codes, which cannot be guessed.
"""

import msgspec
import sqlalchemy as sa

from retinue.auth.mfa import recovery
from retinue.auth.models import Session
from retinue.kit.attempts import AttemptGuard, BackoffGuard
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.request import limit_address
from retinue.users.models import User

_TOO_MANY = "Too many codes were tried."
_UNPROVEN_ADDRESS = "strange"
_MAX_SESSIONS_LOOKED_AT = 100

_CODES = BackoffGuard("mfa-code", limit=10, window_s=5 * 60, max_window_s=3600, message=_TOO_MANY)
_RECOVERY_BY_ADDRESS = AttemptGuard("recovery-code", limit=10, window_s=5 * 60, message=_TOO_MANY)
_RECOVERY = AttemptGuard("recovery-code-account", limit=1000, window_s=3600, message=_TOO_MANY)

_sessions = Session.__table__
_PROVEN_ADDRESSES = Statement(
    sa.select(_sessions.c.ip_address)
    .where(
        _sessions.c.user_id == sa.bindparam("user_id"),
        _sessions.c.second_factor_at.is_not(None),
        _sessions.c.expires_at > sa.bindparam("now"),
    )
    .order_by(_sessions.c.last_used_at.desc())
    .limit(_MAX_SESSIONS_LOOKED_AT)
)


class CodeAttempt(msgspec.Struct, frozen=True):
    """A counted attempt; `counted_for` is the counter that a right code resets."""

    user_id: str
    counted_for: str
    is_recovery_code: bool


async def count_attempt(ctx: Context, user: User, code: str) -> CodeAttempt:
    """Count an attempt before the code is checked; raise if over the limit."""
    address = limit_address(ctx.caller.ip_address)
    if recovery.is_well_formed(code):
        await _RECOVERY_BY_ADDRESS.count(ctx, user.id, address)
        await _RECOVERY.count(ctx, user.id)
        return CodeAttempt(user.id, address, is_recovery_code=True)
    async with ctx.unit() as unit:
        unit.bind_tenant(user.tenant_id)
        rows = await unit.db.rows(_PROVEN_ADDRESSES, user_id=user.id, now=ctx.now)
    is_proven = any(limit_address(row[0]) == address for row in rows)
    counted_for = address if is_proven else _UNPROVEN_ADDRESS
    await _CODES.count(ctx, user.id, counted_for)
    return CodeAttempt(user.id, counted_for, is_recovery_code=False)


async def reset_attempts(ctx: Context, attempt: CodeAttempt) -> None:
    guard = _RECOVERY_BY_ADDRESS if attempt.is_recovery_code else _CODES
    await guard.reset_attempts(ctx, attempt.user_id, attempt.counted_for)


async def reset_all_attempts(ctx: Context, user: User) -> None:
    """Reset the counters after all factors were removed."""
    for counted_for in (_UNPROVEN_ADDRESS, limit_address(ctx.caller.ip_address)):
        await _CODES.reset_attempts(ctx, user.id, counted_for)
