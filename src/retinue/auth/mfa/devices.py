"""A user's authenticators: set up, enabled by the first code, removed.

Every change holds the user's row, so that two at once cannot leave `mfa_enabled` and the devices apart.
"""

import asyncio
from typing import Any

import sqlalchemy as sa

from retinue.auth import sessions
from retinue.auth.errors import DeviceNotFound, MfaNotEnabled, MfaNotSetUp, TooManyDevices
from retinue.auth.mfa import challenges, codes, recovery, step_up, totp
from retinue.auth.mfa.codes import Purpose
from retinue.auth.mfa.events import (
    MfaDeviceAdded,
    MfaDeviceRemoved,
    MfaDisabled,
    MfaEnabled,
    MfaReset,
    RecoveryCodesRenewed,
)
from retinue.auth.mfa.schemas import MfaSetup, MfaSetupRequest, MfaStatus, StepUp
from retinue.auth.models import MfaDevice
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, Unauthorized
from retinue.users.models import User

MOST_DEVICES = 10

_DEFAULT_NAME = "Authenticator"

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


async def enabled(ctx: Context) -> list[MfaDevice]:
    return await ctx.db.all(
        MfaDevice, user_id=ctx.principal.id, is_active=True, order_by=("created_at", "id")
    )


async def set_up(ctx: Context, body: MfaSetupRequest) -> MfaSetup:
    """A new authenticator that waits for its first code; what is in use stays in use until then."""
    await step_up.require(ctx, code=body.code, password=body.password)
    secret, recovery_codes = totp.new_secret(), recovery.new_set()
    async with ctx.unit() as unit:
        email = (await _held_user(unit)).email
    url = totp.otpauth_url(secret, email)
    picture = await asyncio.to_thread(totp.qr_code_url, url)
    ...
