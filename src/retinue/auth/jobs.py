"""Deletion of expired sessions, tokens and challenges."""

from typing import Any

import sqlalchemy as sa

from retinue.auth.email_verification import send_verification
from retinue.auth.job_kinds import RECORD_FAILED_LOGIN, SEND_PASSWORD_RESET, SEND_VERIFICATION
from retinue.auth.models import MfaChallenge, OneTimeToken, RefreshToken, Session
from retinue.auth.password_change import send_password_reset
from retinue.auth.sessions import REFRESH_TOKEN_SECONDS
from retinue.auth.sign_in import record_failed_login
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import implement, periodic

_EXPIRED: list[Statement[Any]] = [
    Statement(
        sa.delete(record.__table__).where(record.__table__.c.expires_at <= sa.bindparam("now")),
        removes_expired=True,
    )
    for record in (Session, OneTimeToken, MfaChallenge)
]
_tokens = RefreshToken.__table__
_SPENT_BEFORE = Statement(sa.delete(_tokens).where(_tokens.c.spent_at <= sa.bindparam("before")))


async def purge_sign_ins(ctx: Context) -> None:
    """Delete expired sessions, tokens and challenges, and refresh tokens spent a full lifetime ago."""
    system = ctx.system("every tenant's sessions expire")
    for statement in _EXPIRED:
        await system.execute(statement, now=ctx.now)
    await system.execute(_SPENT_BEFORE, before=ctx.clock.ahead(-REFRESH_TOKEN_SECONDS))


JOBS = (
    periodic("auth.purge_sign_ins", purge_sign_ins, every_s=3600),
    implement(SEND_VERIFICATION, send_verification),
    implement(RECORD_FAILED_LOGIN, record_failed_login),
    implement(SEND_PASSWORD_RESET, send_password_reset),
)
