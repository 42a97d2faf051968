"""The second half of signing in: a challenge that the right password was answered with, and a code."""

from typing import Any

import sqlalchemy as sa

from retinue.auth import sessions
from retinue.auth.errors import AccountInactive, InvalidCode, MfaTokenInvalid
from retinue.auth.mfa import codes
from retinue.auth.mfa.codes import Purpose
from retinue.auth.models import MfaChallenge
from retinue.auth.schemas.sign_in import Tokens
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Unauthorized
from retinue.kit.tokens import Claims
from retinue.users.models import User, UserStatus

_MOST_TRIES = 5

_challenges = MfaChallenge.__table__
_TRY: Statement[Any] = Statement(
    sa.update(_challenges)
    .where(
        _challenges.c.id == sa.bindparam("challenge_id"),
        _challenges.c.tries < _MOST_TRIES,
        _challenges.c.expires_at > sa.bindparam("now"),
    )
    .values(tries=_challenges.c.tries + 1)
)
_USE: Statement[Any] = Statement(
    sa.delete(_challenges).where(_challenges.c.id == sa.bindparam("challenge_id"))
)


async def complete(ctx: Context, mfa_token: str, code: str) -> Tokens:
    """The tokens of the session that this sign-in was waiting for."""
    claims = _claims(ctx, mfa_token)
    ctx.act_in(claims.tid)
    async with ctx.unit() as unit:
        if not await unit.db.execute(_TRY, challenge_id=claims.sid, now=ctx.now):
            raise MfaTokenInvalid
        user = _still_waiting(await unit.db.get(User, claims.sub))
    if not await codes.accept(ctx, user, code, Purpose.login):
        raise InvalidCode
    # The account may have changed while the code was checked.
    user = _still_waiting(await ctx.db.lock(User, user.id))
    if not await ctx.db.execute(_USE, challenge_id=claims.sid):
        raise MfaTokenInvalid
    return await sessions.begin(ctx, user, second_factor=True)


def _claims(ctx: Context, mfa_token: str) -> Claims:
    try:
        return ctx.instance.tokens.verify(mfa_token, "mfa")
    except Unauthorized as error:
        raise MfaTokenInvalid from error


def _still_waiting(user: User | None) -> User:
    if user is None or not user.mfa_enabled:
        raise MfaTokenInvalid
    if user.status is not UserStatus.active:
        raise AccountInactive(user.role)
    return user
