"""Checking of codes. Every path counts the attempt first, and a code works once for each purpose.

An attempt is a separate transaction: what it spends stays spent and its refusal stays recorded, whatever
happens to the request. Never call these functions while the caller's transaction is open.
"""

import re
from collections.abc import Awaitable, Callable
from enum import Enum, StrEnum
from typing import Any

import sqlalchemy as sa

from retinue.auth.events import LoginFailed
from retinue.auth.mfa import code_attempts, recovery, totp
from retinue.auth.mfa.events import MfaCodeRefused, RecoveryCodesLow, RecoveryCodeUsed
from retinue.auth.models import MfaDevice, RecoveryCode, Session
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import VaultSealed
from retinue.kit.events.declare import Event
from retinue.users.models import User
from retinue.users.queries import fetch_self

_LOW_CODES_THRESHOLD = 3
# Any kind of space or hyphen: people write codes in groups.
_SEPARATORS = re.compile(r"[\s\-\u00ad\u200b\u2010-\u2015\u2212]+")


class CodePurpose(StrEnum):
    enable = "enable"
    login = "login"
    disable = "disable"
    step_up = "step_up"
    verify = "verify"


_NEEDS_TRUST = frozenset({CodePurpose.disable, CodePurpose.step_up})

_devices, _sessions = MfaDevice.__table__, Session.__table__


def _spend_statement(last_step: str) -> Statement[Any]:
    column = _devices.c[last_step]
    step = sa.bindparam("step", type_=column.type)
    return Statement(
        sa.update(_devices)
        .where(_devices.c.id == sa.bindparam("device_id"), column < step)
        .values({last_step: step, "last_used_at": sa.bindparam("now")})
    )


_SPEND: dict[CodePurpose, Statement[Any]] = {
    CodePurpose.enable: _spend_statement("last_enable_step"),
    CodePurpose.login: _spend_statement("last_login_step"),
    CodePurpose.disable: _spend_statement("last_disable_step"),
    CodePurpose.step_up: _spend_statement("last_step_up_step"),
}
_RECORD_SECOND_FACTOR = Statement(
    sa.update(_sessions)
    .where(_sessions.c.id == sa.bindparam("session_id"))
    .values(second_factor_at=sa.bindparam("now"))
)


class CodeMatch(Enum):
    """The result of checking a code. A waiting factor signs in, but cannot remove other factors yet."""

    wrong = "wrong"
    of_waiting_factor = "of_waiting_factor"
    of_trusted_factor = "of_trusted_factor"

    @property
    def is_right(self) -> bool:
        return self is not CodeMatch.wrong

    @classmethod
    def of(cls, ctx: Context, factor: MfaDevice | RecoveryCode) -> "CodeMatch":
        return cls.of_trusted_factor if is_trusted(ctx, factor) else cls.of_waiting_factor


def is_trusted(ctx: Context, factor: MfaDevice | RecoveryCode) -> bool:
    """Return whether a factor may remove others. One added with the password alone has to wait."""
    return factor.trusted_from <= ctx.now


def normalize_code(code: str) -> str:
    return _SEPARATORS.sub("", code)


async def accept(ctx: Context, user: User, code: str, purpose: CodePurpose) -> CodeMatch:
    """Check and spend a code of one of the user's authenticators or a recovery code."""
    typed = normalize_code(code)

    async def check(unit: Context) -> CodeMatch:
        if recovery.is_well_formed(typed):
            return await _spend_recovery_code(unit, user, typed, purpose)
        active = await unit.db.all(MfaDevice, user_id=user.id, is_active=True)
        return await _spend(unit, _allowed(unit, active, purpose), typed, purpose)

    return await _check_counted(ctx, user, typed, purpose, check)


async def accept_enrollment(ctx: Context, user: User, device: MfaDevice, code: str) -> bool:
    """Check and spend the first code of an authenticator that is being enabled."""
    typed = normalize_code(code)

    async def check(unit: Context) -> CodeMatch:
        return await _spend(unit, [device], typed, CodePurpose.enable)

    return (await _check_counted(ctx, user, typed, CodePurpose.enable, check)).is_right


async def is_current(ctx: Context, code: str) -> bool:
    """Return whether one of the caller's authenticators shows this code now.

    Nothing is spent. Recovery codes, which work once, are not checked.
    """
    typed = normalize_code(code)
    async with ctx.unit() as unit:
        user = await fetch_self(unit)

    async def check(unit: Context) -> CodeMatch:
        active = await unit.db.all(MfaDevice, user_id=user.id, is_active=True)
        matching = [CodeMatch.of(unit, device) for device, _ in _matching(unit, active, typed)]
        return max(matching, key=lambda match: match is CodeMatch.of_trusted_factor, default=CodeMatch.wrong)

    return (await _check_counted(ctx, user, typed, CodePurpose.verify, check)).is_right


async def _check_counted(
    ctx: Context,
    user: User,
    code: str,
    purpose: CodePurpose,
    check: Callable[[Context], Awaitable[CodeMatch]],
) -> CodeMatch:
    if ctx.instance.vault.sealed_because:
        raise VaultSealed
    attempt = await code_attempts.count_attempt(ctx, user, code)
    async with ctx.unit() as unit:
        # A super administrator may be acting in another tenant.
        unit.bind_tenant(user.tenant_id)
        # Lock the user first, as everywhere, to avoid deadlocks.
        await unit.db.lock(User, user.id)
        match = await check(unit)
        if not match.is_right:
            unit.emit(_refusal(user, purpose), success=False)
        # A factor added with the password alone must not reset the counter that protects the owner's factors.
        if match is CodeMatch.of_trusted_factor:
            await code_attempts.reset_attempts(unit, attempt)
            await unit.db.execute(_RECORD_SECOND_FACTOR, session_id=ctx.principal.session_id, now=ctx.now)
    return match


def _allowed(ctx: Context, devices: list[MfaDevice], purpose: CodePurpose) -> list[MfaDevice]:
    """Return the authenticators accepted for a purpose. Waiting ones only sign in."""
    if purpose not in _NEEDS_TRUST:
        return devices
    return [device for device in devices if is_trusted(ctx, device)]


def _refusal(user: User, purpose: CodePurpose) -> Event:
    if purpose is CodePurpose.login:
        return LoginFailed(user_id=user.id, reason="invalid_code", purpose=purpose)
    return MfaCodeRefused(user_id=user.id, purpose=purpose)


def _matching(ctx: Context, devices: list[MfaDevice], code: str) -> list[tuple[MfaDevice, int]]:
    """Return the authenticators that show this code, with the time step it belongs to."""
    if not totp.is_well_formed(code):
        return []
    at, ring = ctx.clock.time(), ctx.instance.ring
    steps = [(device, totp.matching_step(device.secret.text(ring), code, at)) for device in devices]
    return [(device, step) for device, step in steps if step is not None]


async def _spend(ctx: Context, devices: list[MfaDevice], code: str, purpose: CodePurpose) -> CodeMatch:
    for device, step in _matching(ctx, devices, code):
        if await ctx.db.execute(_SPEND[purpose], device_id=device.id, step=step, now=ctx.now):
            return CodeMatch.of(ctx, device)
    return CodeMatch.wrong


async def _spend_recovery_code(ctx: Context, user: User, code: str, purpose: CodePurpose) -> CodeMatch:
    recovery_code = await recovery.find(ctx, user.id, code)
    if recovery_code is None or (purpose in _NEEDS_TRUST and not is_trusted(ctx, recovery_code)):
        return CodeMatch.wrong
    if not await recovery.spend(ctx, recovery_code):
        return CodeMatch.wrong
    remaining = await recovery.count_remaining(ctx, user.id)
    ctx.emit(RecoveryCodeUsed(user_id=user.id, purpose=purpose, remaining=remaining))
    # Disabling deletes the remaining codes, so a warning would be pointless.
    if remaining < _LOW_CODES_THRESHOLD and purpose is not CodePurpose.disable:
        ctx.emit(RecoveryCodesLow(user_id=user.id, remaining=remaining))
    return CodeMatch.of(ctx, recovery_code)
