"""Step-up: a stolen access token alone must not be enough for what is delicate."""

from retinue.auth.errors import InvalidCredentials, StepUpRequired
from retinue.auth.mfa import codes
from retinue.auth.mfa.codes import Purpose
from retinue.auth.sign_in import PasswordFor, check_password
from retinue.kit.context import Context
from retinue.users.models import User
from retinue.users.queries import fetch_self

FRESH_S = 15 * 60


async def require(ctx: Context, *, code: str | None = None, password: str | None = None) -> bool:
    """Refuse whoever has MFA and shows no second factor, now or in the last minutes of this session.

    False means that nothing was shown because there is no MFA. Call it first: it counts tries and checks
    passwords, so the request's transaction is not open yet.
    """
    principal = ctx.principal
    if principal.second_factor_at > ctx.clock.ahead(-FRESH_S):
        return True
    async with ctx.unit() as unit:
        unit.act_in(principal.home_tenant_id or principal.tenant_id)
        user = await fetch_self(unit)
    if not user.mfa_enabled:
        return False
    if code is not None and await codes.accept(ctx, user, code, Purpose.step_up):
        return True
    if password is not None and await _is_password(ctx, user, password):
        return True
    raise StepUpRequired(principal.role)


async def _is_password(ctx: Context, user: User, password: str) -> bool:
    try:
        await check_password(ctx, user.email, user, password, PasswordFor.step_up)
    except InvalidCredentials:
        return False
    return True
