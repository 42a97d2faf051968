"""The secret that a tenant's messages are signed with, where no webhook has one of its own."""

import msgspec

from retinue.events.events import SigningSecretRevealed, SigningSecretRotated
from retinue.events.models import SigningSecret
from retinue.events.schemas import SigningSecretOut
from retinue.events.schemas import SigningSecretRotated as RotatedOut
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.webhook_signing import new_signing_secret


class SigningKeys(msgspec.Struct, frozen=True, array_like=True):
    """`previous` is the secret before the last rotation."""

    secret: str
    previous: str | None = None

    def sealed(self) -> Sealed:
        return Sealed.of(msgspec.json.encode(self))


async def ensure(ctx: Context) -> SigningSecret:
    """The tenant's secret, made the first time that anyone needs it."""
    found = await ctx.db.find(SigningSecret)
    if found is None:
        await ctx.db.insert_missing(SigningSecret(secrets=SigningKeys(new_signing_secret()).sealed()))
        found = await ctx.db.find(SigningSecret)
        assert found is not None
    return found


async def keys(ctx: Context) -> SigningKeys:
    """What to sign with now: with the secret before only while its grace lasts."""
    found = await ensure(ctx)
    opened = _opened(ctx, found)
    return opened if _graced_until(ctx, found) else SigningKeys(opened.secret)


async def reveal(ctx: Context) -> SigningSecretOut:
    found = await ensure(ctx)
    ctx.emit(SigningSecretRevealed(secret_id=found.id))
    return SigningSecretOut.of(
        found, secret=_opened(ctx, found).secret, previous_secret_expires_at=_graced_until(ctx, found)
    )


async def rotate(ctx: Context, grace_seconds: int) -> RotatedOut:
    held = await ctx.db.lock(SigningSecret, (await ensure(ctx)).id)
    assert held is not None
    until = ctx.clock.ahead(grace_seconds)
    new = SigningKeys(new_signing_secret(), previous=_opened(ctx, held).secret)
    await ctx.db.update(held, secrets=new.sealed(), previous_until=until)
    ctx.emit(SigningSecretRotated(secret_id=held.id, previous_until=until))
    return RotatedOut(secret=new.secret, previous_secret_expires_at=until)


def _opened(ctx: Context, found: SigningSecret) -> SigningKeys:
    return msgspec.json.decode(found.secrets.open(ctx.instance.ring), type=SigningKeys)


def _graced_until(ctx: Context, found: SigningSecret) -> str | None:
    until = found.previous_until
    return until if until is not None and until > ctx.now else None
