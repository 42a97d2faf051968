"""A user's authenticators: set up, enabled by their first code, removed.

Every change holds the user's row, so that two at once cannot leave `mfa_enabled` and the devices apart.
"""

import asyncio
from typing import Any

import sqlalchemy as sa

from retinue.auth.errors import DeviceNotFound, MfaNotEnabled, MfaNotSetUp, StepUpRequired, TooManyDevices
from retinue.auth.mfa import codes, events, recovery, step_up, totp
from retinue.auth.mfa.codes import Purpose
from retinue.auth.mfa.schemas import MfaSetup, MfaSetupRequest, MfaStatus, StepUp
from retinue.auth.models import MfaDevice
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.users.models import User
from retinue.users.queries import fetch_self, hold_self

MOST_DEVICES = 5

_devices = MfaDevice.__table__
_DISCARD_PENDING: Statement[Any] = Statement(
    sa.delete(_devices).where(
        _devices.c.user_id == sa.bindparam("user_id"), _devices.c.is_active == sa.false()
    )
)
_REMOVE_ALL: Statement[Any] = Statement(
    sa.delete(_devices).where(_devices.c.user_id == sa.bindparam("user_id"))
)


async def status(ctx: Context) -> MfaStatus:
    user_id = ctx.principal.id
    count = await ctx.db.count(MfaDevice, user_id=user_id, is_active=True)
    left = await recovery.remaining(ctx, user_id)
    return MfaStatus(enabled=count > 0, devices_count=count, recovery_codes_remaining=left)


async def active(ctx: Context) -> list[MfaDevice]:
    """The caller's authenticators that are enabled, the oldest first."""
    return await ctx.db.all(
        MfaDevice, user_id=ctx.principal.id, is_active=True, order_by=("created_at", "id")
    )


async def set_up(ctx: Context, body: MfaSetupRequest) -> MfaSetup:
    """A new authenticator that waits for its first code; what is in use stays in use until then."""
    was_shown = await step_up.require(ctx, code=body.code, password=body.password)
    secret, recovery_codes = totp.new_secret(), recovery.new_set()
    # In a unit of its own, because the picture takes time in which nobody should wait for the user's row.
    async with ctx.unit() as unit:
        user = await _hold_user(unit, was_shown=was_shown)
        if len(await active(unit)) >= MOST_DEVICES:
            raise TooManyDevices
        await unit.db.execute(_DISCARD_PENDING, user_id=user.id)
        name = body.name or "Authenticator"
        await unit.db.insert(MfaDevice(user_id=user.id, name=name, secret=Sealed.of(secret)))
        await recovery.replace(unit, user.id, recovery_codes, is_active=False)
    url = totp.otpauth_url(secret, user.email)
    return MfaSetup(
        secret=secret,
        qr_code_url=await asyncio.to_thread(totp.qr_code_url, url),
        otpauth_url=url,
        recovery_codes=recovery_codes,
    )


async def enable(ctx: Context, code: str) -> int:
    """The authenticator that was set up is in use from now on; how many recovery codes came with it."""
    async with ctx.unit() as unit:
        user = await fetch_self(unit)
        pending = await unit.db.find(MfaDevice, user_id=user.id, is_active=False)
    if pending is None:
        raise MfaNotSetUp
    if not await codes.accept_first(ctx, user, pending, code):
        raise _wrong_code()
    user = await _hold_user(ctx)
    device = await ctx.db.get(MfaDevice, pending.id)
    if device is None or device.is_active:
        raise MfaNotSetUp
    await ctx.db.update(device, is_active=True)
    await recovery.activate(ctx, user.id)
    ctx.emit(events.MfaDeviceAdded(user_id=user.id, device_id=device.id, name=device.name))
    if user.mfa_enabled:
        ctx.emit(events.RecoveryCodesRenewed(user_id=user.id))
    else:
        await ctx.db.update(user, mfa_enabled=True)
        ctx.emit(events.MfaEnabled(user_id=user.id))
    return await recovery.remaining(ctx, user.id)


async def disable(ctx: Context, code: str) -> None:
    async with ctx.unit() as unit:
        user = await fetch_self(unit)
    if not user.mfa_enabled:
        raise MfaNotEnabled
    if not await codes.accept(ctx, user, code, Purpose.disable):
        raise _wrong_code()
    await _turn_off(ctx, await _hold_user(ctx))


async def remove(ctx: Context, device_id: str, body: StepUp) -> None:
    """Remove one authenticator; with the last one MFA is off."""
    was_shown = await step_up.require(ctx, code=body.code, password=body.password)
    user = await _hold_user(ctx, was_shown=was_shown)
    devices = await active(ctx)
    device = next((device for device in devices if device.id == device_id), None)
    if device is None:
        raise DeviceNotFound
    await ctx.db.delete(device)
    ctx.emit(events.MfaDeviceRemoved(user_id=user.id, device_id=device.id, name=device.name))
    if len(devices) == 1:
        await _turn_off(ctx, user)


async def renew_recovery_codes(ctx: Context, body: StepUp) -> list[str]:
    was_shown = await step_up.require(ctx, code=body.code, password=body.password)
    user = await _hold_user(ctx, was_shown=was_shown)
    if not user.mfa_enabled:
        raise MfaNotEnabled
    fresh = recovery.new_set()
    await recovery.replace(ctx, user.id, fresh, is_active=True)
    ctx.emit(events.RecoveryCodesRenewed(user_id=user.id))
    return fresh


async def take_away(ctx: Context, user: User) -> None:
    """Remove every second factor of a user; the context is in the user's tenant and holds the user's row."""
    await ctx.db.execute(_REMOVE_ALL, user_id=user.id)
    await recovery.remove_all(ctx, user.id)
    await codes.forgive(ctx, user)
    await ctx.db.update(user, mfa_enabled=False)


async def _turn_off(ctx: Context, user: User) -> None:
    await take_away(ctx, user)
    ctx.emit(events.MfaDisabled(user_id=user.id))


async def _hold_user(ctx: Context, *, was_shown: bool = True) -> User:
    """The caller's row, held; who showed nothing, as there was no MFA, is asked once there is some."""
    user = await hold_self(ctx)
    if user.mfa_enabled and not was_shown:
        raise StepUpRequired(user.role)
    return user


def _wrong_code() -> Invalid:
    return Invalid({"code": "is not a code that is valid now"})
