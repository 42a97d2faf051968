"""Tokens of mailed links: 256 random bits, stored as a hash, for one purpose and one use."""

import sqlalchemy as sa

from retinue.auth.errors import InvalidToken
from retinue.auth.models import OneTimeToken, TokenPurpose
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import hash_token, new_token
from retinue.users.models import User

_LIFETIME_S = {TokenPurpose.verify_email: 24 * 3600, TokenPurpose.reset_password: 3600}

_tokens = OneTimeToken.__table__
_SPEND = Statement(sa.delete(_tokens).where(_tokens.c.id == sa.bindparam("token_id")))
_VOID = Statement(
    sa.delete(_tokens).where(
        _tokens.c.user_id == sa.bindparam("user_id"), _tokens.c.purpose == sa.bindparam("purpose")
    )
)


async def issue(ctx: Context, user: User, purpose: TokenPurpose) -> str:
    """Issue a token in the user's tenant; an earlier one for the same purpose becomes void."""
    await void(ctx, user, purpose)
    token = new_token()
    await ctx.db.insert(
        OneTimeToken(
            user_id=user.id,
            purpose=purpose,
            token_hash=hash_token(token),
            expires_at=ctx.clock.ahead(_LIFETIME_S[purpose]),
        )
    )
    return token


async def fetch(ctx: Context, token: str, purpose: TokenPurpose) -> OneTimeToken:
    """Return the record of a valid token for this purpose; raise `InvalidToken` otherwise."""
    record = await ctx.system("the token alone says whose it is").find(
        OneTimeToken, token_hash=hash_token(token)
    )
    if record is None or record.purpose is not purpose or record.expires_at <= ctx.now:
        raise InvalidToken
    return record


async def spend(ctx: Context, token: OneTimeToken) -> None:
    """Spend the token; of concurrent callers one succeeds."""
    if not await ctx.db.execute(_SPEND, token_id=token.id):
        raise InvalidToken


async def void(ctx: Context, user: User, purpose: TokenPurpose) -> None:
    await ctx.db.execute(_VOID, user_id=user.id, purpose=purpose.value)
