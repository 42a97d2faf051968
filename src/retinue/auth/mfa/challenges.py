"""The second step of signing in: the challenge issued after the right password, and a code."""

import sqlalchemy as sa

from retinue.auth import sessions
from retinue.auth.errors import AccountInactive, InvalidCode, MfaTokenInvalid
from retinue.auth.login_outcomes import observed_login
from retinue.auth.mfa import codes
from retinue.auth.mfa.codes import CodeMatch, CodePurpose
from retinue.auth.models import MfaChallenge
from retinue.auth.schemas.sign_in import Tokens
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Unauthorized
from retinue.kit.tokens import Claims
from retinue.users.models import User, UserStatus

_MAX_TRIES = 5

_challenges = MfaChallenge.__table__
_TRY = Statement(
    sa.update(_challenges)
    .where(
        _challenges.c.id == sa.bindparam("challenge_id"),
        _challenges.c.tries < _MAX_TRIES,
        _challenges.c.expires_at > sa.bindparam("now"),
    )
    .values(tries=_challenges.c.tries + 1)
)
_USE = Statement(sa.delete(_challenges).where(_challenges.c.id == sa.bindparam("challenge_id")))


async def complete(ctx: Context, mfa_token: str, code: str) -> Tokens:
    """Start the session this sign-in is waiting for and return its tokens."""
    with observed_login(ctx, "mfa"):
        return await _complete(ctx, mfa_token, code)


async def _complete(ctx: Context, mfa_token: str, code: str) -> Tokens:
    claims = _claims(ctx, mfa_token)
    ctx.bind_tenant(claims.tid)
    async with ctx.unit() as unit:
        if not await unit.db.execute(_TRY, challenge_id=claims.sid, now=ctx.now):
            raise MfaTokenInvalid
        user = _require_waiting(await unit.db.get(User, claims.sub))
    match = await codes.accept(ctx, user, code, CodePurpose.login)
    if not match.is_right:
        raise InvalidCode
    # The account may have changed while the code was checked.
    user = _require_waiting(await ctx.db.lock(User, user.id))
    if not await ctx.db.execute(_USE, challenge_id=claims.sid):
        raise MfaTokenInvalid
    is_fresh = match is CodeMatch.of_trusted_factor
    return await sessions.start_session(ctx, user, second_factor=True, counts_for_step_up=is_fresh)


def _claims(ctx: Context, mfa_token: str) -> Claims:
    try:
        return ctx.instance.tokens.verify(mfa_token, "mfa")
    except Unauthorized as error:
        raise MfaTokenInvalid from error


def _require_waiting(user: User | None) -> User:
    if user is None or not user.mfa_enabled:
        raise MfaTokenInvalid
    if user.status is not UserStatus.active:
        raise AccountInactive(user.role)
    return user
