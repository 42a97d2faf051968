"""Signing in: count the attempt, check the password, then open the transaction."""

from typing import NoReturn

import msgspec
import sqlalchemy as sa

from retinue.auth import passwords, sessions
from retinue.auth.errors import AccountInactive, EmailNotVerified, InvalidCredentials
from retinue.auth.events import LoginFailed
from retinue.auth.job_kinds import RECORD_FAILED_LOGIN, FailedLogin
from retinue.auth.login_outcomes import observed_login
from retinue.auth.models import MfaChallenge, PasswordPurpose
from retinue.auth.schemas.sign_in import Credentials, MfaRequired, SignedIn, SignedInUser
from retinue.kit.attempts import AttemptGuard
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Forbidden
from retinue.kit.http.request import limit_address
from retinue.users.models import User, UserStatus
from retinue.users.queries import find_by_email

MFA_TOKEN_SECONDS = 5 * 60

_WINDOW_SECONDS = 15 * 60
_TOO_MANY = "Too many failed sign-ins."
# A low limit per account and network address, a high one per address over many accounts. No account is ever
# locked: the right password from elsewhere still works.
_BY_ACCOUNT_AND_ADDRESS = AttemptGuard("password", limit=5, window_s=_WINDOW_SECONDS, message=_TOO_MANY)
_BY_ADDRESS = AttemptGuard("password-address", limit=100, window_s=_WINDOW_SECONDS, message=_TOO_MANY)

_users = User.__table__
_REHASH = Statement(
    sa.update(_users)
    .where(_users.c.id == sa.bindparam("user_id"), _users.c.password_hash == sa.bindparam("old_hash"))
    .values(password_hash=sa.bindparam("new_hash"))
)


async def check_password(
    ctx: Context, email: str, user: User | None, password: str, purpose: PasswordPurpose
) -> None:
    """Check a password; every path that accepts one uses this. The caller's transaction must not be open."""
    address = limit_address(ctx.caller.ip_address)
    async with _BY_ACCOUNT_AND_ADDRESS.turn(email, address):
        await _BY_ACCOUNT_AND_ADDRESS.count(ctx, email, address)
        await _BY_ADDRESS.count(ctx, address)
        stored = user.password_hash if user is not None else None
        if not await passwords.verify_password(stored, password, ctx.settings.password_cost):
            await _refuse(ctx, email, purpose)
        async with ctx.unit() as unit:
            await reset_attempts(unit, email)
            await _BY_ADDRESS.uncount(unit, address)


async def _refuse(ctx: Context, email: str, purpose: PasswordPurpose) -> NoReturn:
    """Have a job record the failure: looking up the account here would reveal by timing whether it exists."""
    failed = FailedLogin(email, purpose, ctx.caller.ip_address, ctx.caller.user_agent)
    async with ctx.unit() as unit:
        unit.defer(RECORD_FAILED_LOGIN, failed)
    raise InvalidCredentials


async def reset_attempts(ctx: Context, email: str) -> None:
    """Reset the counter of this account at this network address, after its owner proved the password."""
    await _BY_ACCOUNT_AND_ADDRESS.reset_attempts(ctx, email, limit_address(ctx.caller.ip_address))


async def record_failed_login(ctx: Context, payload: FailedLogin) -> None:
    user = await find_by_email(ctx, payload.email)
    if user is None:
        return
    ctx.bind_tenant(user.tenant_id)
    ctx.caller = msgspec.structs.replace(
        ctx.caller, ip_address=payload.ip_address, user_agent=payload.user_agent
    )
    failed = LoginFailed(user_id=user.id, reason="invalid_credentials", purpose=payload.purpose)
    ctx.emit(failed, success=False)


async def login(ctx: Context, body: Credentials) -> SignedIn | MfaRequired:
    with observed_login(ctx, "password") as attempt:
        signed_in = await _login(ctx, body)
        if isinstance(signed_in, MfaRequired):
            attempt.outcome = "mfa_required"
    return signed_in


async def _login(ctx: Context, body: Credentials) -> SignedIn | MfaRequired:
    async with ctx.unit() as unit:
        account = await find_by_email(unit, body.email)
    await check_password(ctx, body.email, account, body.password, PasswordPurpose.login)
    assert account is not None
    ctx.bind_tenant(account.tenant_id)
    await _require_usable_account(ctx, account)
    await _rehash_if_needed(ctx, account, body.password)
    user = await lock_unchanged(ctx, account)
    if user.mfa_enabled:
        return await _create_challenge(ctx, user)
    tokens = await sessions.start_session(ctx, user)
    return SignedIn.of(tokens, user=SignedInUser.of(user))


async def _require_usable_account(ctx: Context, user: User) -> None:
    refusal: Forbidden
    if user.status is not UserStatus.active:
        refusal = AccountInactive(user.role)
    elif ctx.settings.require_verified_email and not user.email_verified:
        refusal = EmailNotVerified(user.role)
    else:
        return
    assert refusal.details is not None
    failed = LoginFailed(user_id=user.id, reason=refusal.details["reason"], purpose=PasswordPurpose.login)
    async with ctx.unit() as unit:
        unit.emit(failed, success=False)
    raise refusal


async def _rehash_if_needed(ctx: Context, user: User, password: str) -> None:
    """Rehash the password if the cost setting has changed."""
    cost = ctx.settings.password_cost
    if not passwords.needs_rehash(user.password_hash, cost):
        return
    new_hash = await passwords.hash_password(password, cost)
    async with ctx.unit() as unit:
        changed = await unit.db.execute(
            _REHASH, user_id=user.id, old_hash=user.password_hash, new_hash=new_hash
        )
    if changed:
        user.password_hash = new_hash


async def lock_unchanged(ctx: Context, seen: User) -> User:
    """Return the locked account; a password or status changed since then raises `InvalidCredentials`."""
    user = await ctx.db.lock(User, seen.id)
    if user is None or user.password_hash != seen.password_hash or user.status is not seen.status:
        raise InvalidCredentials
    return user


async def _create_challenge(ctx: Context, user: User) -> MfaRequired:
    challenge = await ctx.db.insert(
        MfaChallenge(user_id=user.id, expires_at=ctx.clock.ahead(MFA_TOKEN_SECONDS))
    )
    token = ctx.instance.tokens.issue("mfa", user.id, user.tenant_id, challenge.id, MFA_TOKEN_SECONDS)
    return MfaRequired(mfa_token=token)
