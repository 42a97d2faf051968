"""Recovery codes: ten in a set, stored as keyed hashes, each valid once."""

import hashlib
import hmac
import re
import secrets

import sqlalchemy as sa

from retinue.auth.models import RecoveryCode
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import VaultSealed

SET_SIZE = 10

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LENGTH = 10
# Matched before upper-casing, which would turn some non-ASCII letters into accepted ones (U+017F becomes S).
_FORM = re.compile(r"[A-HJ-NP-Za-hj-np-z2-9]{10}")

_codes = RecoveryCode.__table__
_SPEND = Statement(
    sa.delete(_codes).where(_codes.c.id == sa.bindparam("code_id"), _codes.c.is_active == sa.true())
)
_DISCARD = Statement(
    sa.delete(_codes).where(
        _codes.c.user_id == sa.bindparam("user_id"), _codes.c.is_active == sa.bindparam("is_active")
    )
)
_ACTIVATE = Statement(
    sa.update(_codes).where(_codes.c.user_id == sa.bindparam("user_id")).values(is_active=sa.true())
)
_REMOVE_ALL = Statement(sa.delete(_codes).where(_codes.c.user_id == sa.bindparam("user_id")))


def generate_codes() -> list[str]:
    return ["".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)) for _ in range(SET_SIZE)]


def is_well_formed(code: str) -> bool:
    return _FORM.fullmatch(code) is not None


async def replace(
    ctx: Context, user_id: str, codes: list[str], *, is_active: bool, trusted_from: str
) -> None:
    """Replace the active set, or the pending set of a device that is being set up."""
    await ctx.db.execute(_DISCARD, user_id=user_id, is_active=is_active)
    await ctx.db.insert_many(
        RecoveryCode(
            user_id=user_id,
            code_hash=_hashed(ctx, user_id, code),
            is_active=is_active,
            trusted_from=trusted_from,
        )
        for code in codes
    )


async def activate(ctx: Context, user_id: str) -> None:
    """Replace the active set with the pending one."""
    await ctx.db.execute(_DISCARD, user_id=user_id, is_active=True)
    await ctx.db.execute(_ACTIVATE, user_id=user_id)


async def find(ctx: Context, user_id: str, code: str) -> RecoveryCode | None:
    """Return the code if it is in the user's active set."""
    code_hash = _hashed(ctx, user_id, code.upper())
    return await ctx.db.find(RecoveryCode, user_id=user_id, code_hash=code_hash, is_active=True)


async def spend(ctx: Context, code: RecoveryCode) -> bool:
    """Spend a code; of concurrent callers only one gets True."""
    spent: int = await ctx.db.execute(_SPEND, code_id=code.id)
    return spent == 1


async def count_remaining(ctx: Context, user_id: str) -> int:
    return await ctx.db.count(RecoveryCode, user_id=user_id, is_active=True)


async def remove_all(ctx: Context, user_id: str) -> None:
    await ctx.db.execute(_REMOVE_ALL, user_id=user_id)


def _hashed(ctx: Context, user_id: str, code: str) -> str:
    """Hash with the instance's key: 50 random bits are too few to protect a plain hash in a leaked dump."""
    pepper = ctx.instance.vault.pepper
    if not pepper:
        raise VaultSealed
    return hmac.new(pepper, f"recovery-code\0{user_id}\0{code}".encode(), hashlib.sha256).hexdigest()
