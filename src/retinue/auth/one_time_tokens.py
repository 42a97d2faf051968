"""Links that are mailed: 256 random bits, known here by their hash only, for one purpose and one use."""

from typing import Any

import sqlalchemy as sa

from retinue.auth.errors import InvalidToken
from retinue.auth.models import OneTimeToken, TokenPurpose
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import hash_token, new_token
from retinue.users.models import User

_LIFETIME_S = {TokenPurpose.verify_email: 24 * 3600, TokenPurpose.reset_password: 3600}

_tokens = OneTimeToken.__table__
_SPEND: Statement[Any] = Statement(sa.delete(_tokens).where(_tokens.c.id == sa.bindparam("token_id")))
_VOID: Statement[Any] = Statement(
    sa.delete(_tokens).where(
        _tokens.c.user_id == sa.bindparam("user_id"), _tokens.c.purpose == sa.bindparam("purpose")
    )
)


async def issue(ctx: Context, user: User, purpose: TokenPurpose) -> str:
    """A fresh token in the user's tenant; an earlier one for the same purpose is void."""
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
    """What the token stands for; a token of another purpose is no token."""
    found = await ctx.system("the token alone says whose it is").find(
        OneTimeToken, token_hash=hash_token(token)
    )
    if found is None or found.purpose is not purpose or found.expires_at <= ctx.now:
        raise InvalidToken
    return found


async def spend(ctx: Context, token: OneTimeToken) -> None:
    """Use the token up; of many who try at once, one succeeds."""
    if not await ctx.db.execute(_SPEND, token_id=token.id):
        raise InvalidToken


async def void(ctx: Context, user: User, purpose: TokenPurpose) -> None:
    await ctx.db.execute(_VOID, user_id=user.id, purpose=purpose.value)
