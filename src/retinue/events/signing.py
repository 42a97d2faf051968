"""The tenant's signing secret, for messages that do not belong to a webhook."""

import msgspec

from retinue.events.events import SigningSecretRevealed, SigningSecretRotated
from retinue.events.models import SigningSecret
from retinue.events.schemas import SigningSecretOut
from retinue.events.schemas import SigningSecretRotation as RotatedOut
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import RetinueError
from retinue.kit.webhook_signing import new_signing_secret


class TenantSigningKeys(msgspec.Struct, frozen=True, array_like=True):
    """The signing secret and the one before the last rotation."""

    secret: str
    previous: str | None = None

    def sealed(self) -> Sealed:
        return Sealed.of(msgspec.json.encode(self))


async def ensure_secret(ctx: Context) -> SigningSecret:
    """Return the tenant's secret; create it on first use."""
    stored = await ctx.db.find(SigningSecret)
    if stored is None:
        await ctx.db.insert_missing(SigningSecret(secrets=TenantSigningKeys(new_signing_secret()).sealed()))
        stored = await ctx.db.find(SigningSecret)
        assert stored is not None
    return stored


async def current_keys(ctx: Context) -> TenantSigningKeys:
    """Return the secrets to sign with; the previous one only during its grace period."""
    stored = await ensure_secret(ctx)
    opened = _open_keys(ctx, stored)
    return opened if _previous_expires_at(ctx, stored) else TenantSigningKeys(opened.secret)


async def reveal(ctx: Context) -> SigningSecretOut:
    """Return the secret; the attempt is audited even if decryption fails."""
    stored = await ensure_secret(ctx)
    revealed = SigningSecretRevealed(secret_id=stored.id)
    try:
        opened = _open_keys(ctx, stored)
    except RetinueError as error:
        await ctx.rollback()
        async with ctx.unit() as unit:
            unit.emit(revealed, success=False, reason=error.code)
        raise
    ctx.emit(revealed)
    return SigningSecretOut.of(
        stored, secret=opened.secret, previous_secret_expires_at=_previous_expires_at(ctx, stored)
    )


async def rotate(ctx: Context, grace_seconds: int) -> RotatedOut:
    locked = await ctx.db.lock(SigningSecret, (await ensure_secret(ctx)).id)
    assert locked is not None
    until = ctx.clock.ahead(grace_seconds)
    new = TenantSigningKeys(new_signing_secret(), previous=_open_keys(ctx, locked).secret)
    await ctx.db.update(locked, secrets=new.sealed(), previous_until=until)
    ctx.emit(SigningSecretRotated(secret_id=locked.id, previous_until=until))
    return RotatedOut(secret=new.secret, previous_secret_expires_at=until)


def _open_keys(ctx: Context, stored: SigningSecret) -> TenantSigningKeys:
    return msgspec.json.decode(stored.secrets.open(ctx.instance.ring), type=TenantSigningKeys)


def _previous_expires_at(ctx: Context, stored: SigningSecret) -> str | None:
    until = stored.previous_until
    return until if until is not None and until > ctx.now else None
