"""What has expired goes."""

from typing import Any

import sqlalchemy as sa

from retinue.auth.models import MfaChallenge, OneTimeToken, RefreshToken, Session
from retinue.auth.sessions import REFRESH_S
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job

_EXPIRED: list[Statement[Any]] = [
    Statement(sa.delete(record.__table__).where(record.__table__.c.expires_at <= sa.bindparam("now")))
    for record in (Session, OneTimeToken, MfaChallenge)
]
_tokens = RefreshToken.__table__
_LONG_SPENT: Statement[Any] = Statement(
    sa.delete(_tokens).where(_tokens.c.spent_at <= sa.bindparam("before"))
)


@job(every_s=3600)
async def sweep_sign_ins(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001
    """Delete what ran out unused, and spent refresh tokens that would have expired unspent."""
    system = ctx.system("every tenant's sessions expire")
    for statement in _EXPIRED:
        await system.execute(statement, now=ctx.now)
    await system.execute(_LONG_SPENT, before=ctx.clock.ahead(-REFRESH_S))
