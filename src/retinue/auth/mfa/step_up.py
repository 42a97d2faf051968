"""Step-up authentication: a stolen access token alone must not be enough for sensitive operations."""

from enum import Enum

from retinue.auth.errors import InvalidCredentials, StepUpRequired
from retinue.auth.mfa import codes
from retinue.auth.mfa.codes import CodePurpose
from retinue.auth.models import PasswordPurpose
from retinue.auth.sign_in import check_password
from retinue.kit.context import Context
from retinue.users.models import User
from retinue.users.queries import fetch_self

FRESH_SECONDS = 15 * 60


class StepUpProof(Enum):
    """The caller's proof: none needed (no second factor is set up), the password, or a second factor."""

    not_needed = "not_needed"
    password = "password"  # noqa: S105  a kind of proof, not a password
    factor = "factor"


async def require(ctx: Context, *, code: str | None = None, password: str | None = None) -> StepUpProof:
    """Require a recent or new second factor, or the password, from callers with MFA.

    Call it first: it counts attempts and checks passwords, so the request's transaction must not be open.
    """
    principal = ctx.principal
    principal.require_person()
    if principal.second_factor_at > ctx.clock.ahead(-FRESH_SECONDS):
        return StepUpProof.factor
    async with ctx.unit() as unit:
        unit.bind_tenant(principal.home_tenant_id or principal.tenant_id)
        user = await fetch_self(unit)
    if not user.mfa_enabled:
        return StepUpProof.not_needed
    if code is not None and (await codes.accept(ctx, user, code, CodePurpose.step_up)).is_right:
        return StepUpProof.factor
    if password is not None and await _is_password(ctx, user, password):
        return StepUpProof.password
    raise StepUpRequired(principal.role)


async def _is_password(ctx: Context, user: User, password: str) -> bool:
    try:
        await check_password(ctx, user.email, user, password, PasswordPurpose.step_up)
    except InvalidCredentials:
        return False
    return True
