"""Recovery codes: ten at a time, known by a keyed hash only, each good once."""

import hashlib
import hmac
import re
import secrets
from typing import Any

import sqlalchemy as sa

from retinue.auth.models import RecoveryCode
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import VaultSealed

SET_SIZE = 10

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LENGTH = 10
# Matched before it is upper-cased, because letters outside ASCII can become letters of ours (U+017F is S).
_FORM = re.compile(r"[A-HJ-NP-Za-hj-np-z2-9]{10}")

_codes = RecoveryCode.__table__
_SPEND: Statement[Any] = Statement(
    sa.delete(_codes).where(
        _codes.c.user_id == sa.bindparam("user_id"),
        _codes.c.code_hash == sa.bindparam("code_hash"),
        _codes.c.is_active == sa.true(),
    )
)
_DISCARD: Statement[Any] = Statement(
    sa.delete(_codes).where(
        _codes.c.user_id == sa.bindparam("user_id"), _codes.c.is_active == sa.bindparam("is_active")
    )
)
_ACTIVATE: Statement[Any] = Statement(
    sa.update(_codes).where(_codes.c.user_id == sa.bindparam("user_id")).values(is_active=sa.true())
)
_REMOVE_ALL: Statement[Any] = Statement(sa.delete(_codes).where(_codes.c.user_id == sa.bindparam("user_id")))


def new_set() -> list[str]:
    return ["".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)) for _ in range(SET_SIZE)]


def has_form(code: str) -> bool:
    return _FORM.fullmatch(code) is not None


async def replace(ctx: Context, user_id: str, codes: list[str], *, is_active: bool) -> None:
    """Store a set in the place of the one that is in use, or of the one that waits for its device."""
    await ctx.db.execute(_DISCARD, user_id=user_id, is_active=is_active)
    await ctx.db.insert_many(
        RecoveryCode(user_id=user_id, code_hash=_hashed(ctx, user_id, code), is_active=is_active)
        for code in codes
    )


async def activate(ctx: Context, user_id: str) -> None:
    """The waiting set is the one in use from now on."""
    await ctx.db.execute(_DISCARD, user_id=user_id, is_active=True)
    await ctx.db.execute(_ACTIVATE, user_id=user_id)


async def spend(ctx: Context, user_id: str, code: str) -> bool:
    """Whether it was one of the user's codes; of many at once only one hears yes."""
    spent: int = await ctx.db.execute(_SPEND, user_id=user_id, code_hash=_hashed(ctx, user_id, code.upper()))
    return spent == 1


async def remaining(ctx: Context, user_id: str) -> int:
    return await ctx.db.count(RecoveryCode, user_id=user_id, is_active=True)


async def remove_all(ctx: Context, user_id: str) -> None:
    await ctx.db.execute(_REMOVE_ALL, user_id=user_id)


def _hashed(ctx: Context, user_id: str, code: str) -> str:
    """50 random bits are too few for a plain hash: without the instance's own key a dump tells nothing."""
    pepper = ctx.instance.vault.pepper
    if not pepper:
        raise VaultSealed
    return hmac.new(pepper, f"recovery-code\0{user_id}\0{code}".encode(), hashlib.sha256).hexdigest()
