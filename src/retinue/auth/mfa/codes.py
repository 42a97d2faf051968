"""Codes people type: each try is counted first, in one place for all paths, and each code is good once.

A try is a transaction of its own: what it spends stays spent and its refusal stays recorded, whatever
becomes of the request. So no function here may be called while the caller's transaction is open.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from retinue.auth.events import LoginFailed
from retinue.auth.mfa import recovery, totp
from retinue.auth.mfa.events import MfaCodeRefused, RecoveryCodesLow, RecoveryCodeUsed
from retinue.auth.models import MfaDevice, Session
from retinue.kit.attempts import Guard
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import VaultSealed
from retinue.kit.events.declare import Event
from retinue.users.models import User
from retinue.users.queries import fetch_self

_FEW_CODES = 3
_TRIES = Guard("mfa-code", limit=10, window_s=5 * 60, message="Too many codes were tried.")


class Purpose(StrEnum):
    enable = "enable"
    login = "login"
    disable = "disable"
    step_up = "step_up"
    verify = "verify"


_devices, _sessions = MfaDevice.__table__, Session.__table__


def _spending(last_step: str) -> Statement[Any]:
    column = _devices.c[last_step]
    step = sa.bindparam("step", type_=column.type)
    return Statement(
        sa.update(_devices)
        .where(_devices.c.id == sa.bindparam("device_id"), column < step)
        .values({last_step: step, "last_used_at": sa.bindparam("now")})
    )


_SPEND: dict[Purpose, Statement[Any]] = {
    Purpose.enable: _spending("last_enable_step"),
    Purpose.login: _spending("last_login_step"),
    Purpose.disable: _spending("last_disable_step"),
    Purpose.step_up: _spending("last_step_up_step"),
}
_SHOWN: Statement[Any] = Statement(
    sa.update(_sessions)
    .where(_sessions.c.id == sa.bindparam("session_id"))
    .values(second_factor_at=sa.bindparam("now"))
)


async def accept(ctx: Context, user: User, code: str, purpose: Purpose) -> bool:
    """Whether it is a code of one of the user's authenticators or a recovery code; it is used up then."""

    async def check(unit: Context) -> bool:
        if recovery.has_form(code):
            return await _spend_recovery_code(unit, user, code, purpose)
        active = await unit.db.all(MfaDevice, user_id=user.id, is_active=True)
        return await _spend(unit, active, code, purpose)

    return await _try(ctx, user, purpose, check)


async def accept_first(ctx: Context, user: User, device: MfaDevice, code: str) -> bool:
    """Whether it is a code of this authenticator, which is to be enabled."""

    async def check(unit: Context) -> bool:
        return await _spend(unit, [device], code, Purpose.enable)

    return await _try(ctx, user, Purpose.enable, check)


async def is_current(ctx: Context, code: str) -> bool:
    """Whether an authenticator of the caller shows this code now.

    Nothing is used up, and so recovery codes, which are good once, are not looked at.
    """
    async with ctx.unit() as unit:
        user = await fetch_self(unit)

    async def check(unit: Context) -> bool:
        active = await unit.db.all(MfaDevice, user_id=user.id, is_active=True)
        return bool(_matching(unit, active, code))

    return await _try(ctx, user, Purpose.verify, check)


async def forgive(ctx: Context, user: User) -> None:
    await _TRIES.forgive(ctx, user.id)


async def _try(
    ctx: Context, user: User, purpose: Purpose, check: Callable[[Context], Awaitable[bool]]
) -> bool:
    if ctx.instance.vault.sealed_because:
        raise VaultSealed
    await _TRIES.count(ctx, user.id)
    async with ctx.unit() as unit:
        # A super administrator may be acting in another tenant than the own one.
        unit.act_in(user.tenant_id)
        # First the user, as everywhere: two transactions then never wait for each other.
        await unit.db.lock(User, user.id)
        is_right = await check(unit)
        if is_right:
            await forgive(unit, user)
            await unit.db.execute(_SHOWN, session_id=ctx.principal.session_id, now=ctx.now)
        else:
            unit.emit(_refusal(user, purpose), success=False)
    return is_right


def _refusal(user: User, purpose: Purpose) -> Event:
    if purpose is Purpose.login:
        return LoginFailed(user_id=user.id, reason="invalid_code", purpose=purpose)
    return MfaCodeRefused(user_id=user.id, purpose=purpose)


def _matching(ctx: Context, devices: list[MfaDevice], code: str) -> list[tuple[MfaDevice, int]]:
    """The authenticators that show this code, and the step it belongs to."""
    if not totp.has_form(code):
        return []
    at, ring = ctx.clock.time(), ctx.instance.ring
    steps = [(device, totp.matching_step(device.secret.text(ring), code, at)) for device in devices]
    return [(device, step) for device, step in steps if step is not None]


async def _spend(ctx: Context, devices: list[MfaDevice], code: str, purpose: Purpose) -> bool:
    for device, step in _matching(ctx, devices, code):
        if await ctx.db.execute(_SPEND[purpose], device_id=device.id, step=step, now=ctx.now):
            return True
    return False


async def _spend_recovery_code(ctx: Context, user: User, code: str, purpose: Purpose) -> bool:
    if not await recovery.spend(ctx, user.id, code):
        return False
    left = await recovery.remaining(ctx, user.id)
    ctx.emit(RecoveryCodeUsed(user_id=user.id, purpose=purpose, remaining=left))
    # Disabling discards the rest, so there is nothing to be told about it.
    if left < _FEW_CODES and purpose is not Purpose.disable:
        ctx.emit(RecoveryCodesLow(user_id=user.id, remaining=left))
    return True
