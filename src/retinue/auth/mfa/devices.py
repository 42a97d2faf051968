"""A user's authenticators: set up, enabled by their first code, removed.

Every change locks the user's row, so that `mfa_enabled` and the devices stay consistent.
"""

import asyncio

import sqlalchemy as sa

from retinue.auth import account_mails
from retinue.auth.errors import DeviceNotFound, MfaNotEnabled, MfaNotSetUp, StepUpRequired, TooManyDevices
from retinue.auth.mfa import code_attempts, codes, events, recovery, step_up, totp
from retinue.auth.mfa.codes import CodePurpose
from retinue.auth.mfa.step_up import StepUpProof
from retinue.auth.models import MfaDevice
from retinue.auth.schemas.mfa import MfaSetup, MfaSetupRequest, MfaStatus, StepUp
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.users.models import User
from retinue.users.queries import fetch_self, lock_self

MAX_DEVICES = 5
# Otherwise the password alone would be enough to add a factor and remove the owner's with it.
PASSWORD_FACTOR_WAIT_SECONDS = 24 * 3600

_devices = MfaDevice.__table__
_DISCARD_PENDING = Statement(
    sa.delete(_devices).where(
        _devices.c.user_id == sa.bindparam("user_id"), _devices.c.is_active == sa.false()
    )
)
_REMOVE_ALL = Statement(sa.delete(_devices).where(_devices.c.user_id == sa.bindparam("user_id")))


async def status(ctx: Context) -> MfaStatus:
    user_id = ctx.principal.id
    count = await ctx.db.count(MfaDevice, user_id=user_id, is_active=True)
    remaining = await recovery.count_remaining(ctx, user_id)
    return MfaStatus(enabled=count > 0, devices_count=count, recovery_codes_remaining=remaining)


async def list_active(ctx: Context) -> list[MfaDevice]:
    """Return the caller's enabled authenticators, oldest first."""
    return await ctx.db.all(
        MfaDevice, user_id=ctx.principal.id, is_active=True, order_by=("created_at", "id")
    )


async def set_up(ctx: Context, body: MfaSetupRequest) -> MfaSetup:
    """Create an authenticator that waits for its first code; existing ones stay in use."""
    proof = await step_up.require(ctx, code=body.code, password=body.password)
    secret, recovery_codes = totp.new_secret(), recovery.generate_codes()
    # A separate transaction, so that the user's row is not locked while the QR code is rendered.
    async with ctx.unit() as unit:
        user = await _lock_user(unit, proof)
        if len(await list_active(unit)) >= MAX_DEVICES:
            raise TooManyDevices
        await unit.db.execute(_DISCARD_PENDING, user_id=user.id)
        name = body.name or "Authenticator"
        trusted_from = _trusted_from(unit, proof)
        await unit.db.insert(
            MfaDevice(user_id=user.id, name=name, secret=Sealed.of(secret), trusted_from=trusted_from)
        )
        await recovery.replace(unit, user.id, recovery_codes, is_active=False, trusted_from=trusted_from)
    url = totp.otpauth_url(secret, user.email)
    return MfaSetup(
        secret=secret,
        qr_code_url=await asyncio.to_thread(totp.qr_code_url, url),
        otpauth_url=url,
        recovery_codes=recovery_codes,
    )


async def enable(ctx: Context, code: str) -> int:
    """Enable the authenticator that was set up; return the number of its recovery codes."""
    async with ctx.unit() as unit:
        user = await fetch_self(unit)
        pending = await unit.db.find(MfaDevice, user_id=user.id, is_active=False)
    if pending is None:
        raise MfaNotSetUp
    if not await codes.accept_enrollment(ctx, user, pending, code):
        raise _wrong_code()
    user = await lock_self(ctx)
    device = await ctx.db.get(MfaDevice, pending.id)
    if device is None or device.is_active:
        raise MfaNotSetUp
    await ctx.db.update(device, is_active=True)
    await recovery.activate(ctx, user.id)
    ctx.emit(events.MfaDeviceAdded(user_id=user.id, device_id=device.id, name=device.name))
    if user.mfa_enabled:
        ctx.emit(events.RecoveryCodesRenewed(user_id=user.id))
        if not codes.is_trusted(ctx, device):
            await account_mails.send_factor_added(ctx, user)
    else:
        await ctx.db.update(user, mfa_enabled=True)
        ctx.emit(events.MfaEnabled(user_id=user.id))
    return await recovery.count_remaining(ctx, user.id)


async def disable(ctx: Context, code: str) -> None:
    async with ctx.unit() as unit:
        user = await fetch_self(unit)
    if not user.mfa_enabled:
        raise MfaNotEnabled
    if not (await codes.accept(ctx, user, code, CodePurpose.disable)).is_right:
        raise _wrong_code()
    await _disable(ctx, await lock_self(ctx))


async def remove(ctx: Context, device_id: str, body: StepUp) -> None:
    """Remove an authenticator. Removing the last one turns MFA off and needs a code, not the password."""
    proof = await step_up.require(ctx, code=body.code, password=body.password)
    user = await _lock_user(ctx, proof)
    devices = await list_active(ctx)
    device = next((device for device in devices if device.id == device_id), None)
    if device is None:
        raise DeviceNotFound
    is_last = not any(codes.is_trusted(ctx, other) for other in devices if other.id != device_id)
    if is_last and proof is not StepUpProof.factor:
        raise StepUpRequired(user.role, "The password cannot remove the last factor. Confirm with a code.")
    await ctx.db.delete(device)
    ctx.emit(events.MfaDeviceRemoved(user_id=user.id, device_id=device.id, name=device.name))
    if len(devices) == 1:
        await _disable(ctx, user)


async def renew_recovery_codes(ctx: Context, body: StepUp) -> list[str]:
    proof = await step_up.require(ctx, code=body.code, password=body.password)
    user = await _lock_user(ctx, proof)
    if not user.mfa_enabled:
        raise MfaNotEnabled
    fresh = recovery.generate_codes()
    await recovery.replace(ctx, user.id, fresh, is_active=True, trusted_from=_trusted_from(ctx, proof))
    ctx.emit(events.RecoveryCodesRenewed(user_id=user.id))
    if proof is StepUpProof.password:
        await account_mails.send_factor_added(ctx, user)
    return fresh


async def remove_all_factors(ctx: Context, user: User) -> None:
    """Remove all second factors. The context is bound to the user's tenant and has locked the user's row."""
    await ctx.db.execute(_REMOVE_ALL, user_id=user.id)
    await recovery.remove_all(ctx, user.id)
    await code_attempts.reset_all_attempts(ctx, user)
    await ctx.db.update(user, mfa_enabled=False)


async def _disable(ctx: Context, user: User) -> None:
    await remove_all_factors(ctx, user)
    ctx.emit(events.MfaDisabled(user_id=user.id))


def _trusted_from(ctx: Context, proof: StepUpProof) -> str:
    """Return when a new factor may remove others: at once, unless only the password vouches for it."""
    return ctx.clock.ahead(PASSWORD_FACTOR_WAIT_SECONDS) if proof is StepUpProof.password else ""


async def _lock_user(ctx: Context, proof: StepUpProof) -> User:
    """Return the caller's locked row. A proof skipped without MFA is required if MFA was enabled since."""
    user = await lock_self(ctx)
    if user.mfa_enabled and proof is StepUpProof.not_needed:
        raise StepUpRequired(user.role)
    return user


def _wrong_code() -> Invalid:
    return Invalid({"code": "is not a currently valid code"})
