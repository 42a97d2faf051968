"""Signing in: count the attempt, check the password, and only then open the one transaction that matters."""

from enum import StrEnum
from typing import Any, NoReturn

import msgspec
import sqlalchemy as sa

from retinue.auth import passwords, sessions
from retinue.auth.errors import AccountInactive, EmailNotVerified, InvalidCredentials
from retinue.auth.events import LoginFailed
from retinue.auth.models import MfaChallenge
from retinue.auth.schemas.sign_in import Credentials, MfaRequired, SignedIn, SignedInUser
from retinue.kit.attempts import Guard
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Forbidden
from retinue.kit.http.request import limit_address
from retinue.kit.jobs.declare import job
from retinue.users.models import User, UserStatus
from retinue.users.queries import find_by_email

MFA_TOKEN_S = 5 * 60

_WINDOW_S = 15 * 60
_TOO_MANY = "Too many failed sign-ins."
# One account from one address is held back early, one address over many accounts late. No account is ever
# locked: the right password from elsewhere still works.
_BY_BOTH = Guard("password", limit=5, window_s=_WINDOW_S, message=_TOO_MANY)
_BY_ADDRESS = Guard("password-address", limit=100, window_s=_WINDOW_S, message=_TOO_MANY)

_users = User.__table__
_REHASH: Statement[Any] = Statement(
    sa.update(_users)
    .where(_users.c.id == sa.bindparam("user_id"), _users.c.password_hash == sa.bindparam("old_hash"))
    .values(password_hash=sa.bindparam("new_hash"))
)


class PasswordFor(StrEnum):
    """What a password is shown for."""

    login = "login"
    change_password = "change_password"  # noqa: S105  a purpose, not a password
    step_up = "step_up"


class FailedLogin(msgspec.Struct):
    email: str
    purpose: PasswordFor
    ip_address: str
    user_agent: str


async def check_password(
    ctx: Context, email: str, user: User | None, password: str, purpose: PasswordFor
) -> None:
    """The one gate for every path that takes a password; the caller's transaction is not open yet."""
    address = limit_address(ctx.caller.ip_address)
    async with _BY_BOTH.turn(email, address):
        await _BY_BOTH.count(ctx, email, address)
        await _BY_ADDRESS.count(ctx, address)
        stored = user.password_hash if user is not None else None
        if not await passwords.matches(stored, password, ctx.settings.password_cost):
            await _refuse(ctx, email, purpose)
        async with ctx.unit() as unit:
            await forgive_attempts(unit, email)
            await _BY_ADDRESS.take_back(unit, address)


async def _refuse(ctx: Context, email: str, purpose: PasswordFor) -> NoReturn:
    """Recorded by a job, because looking for the account here would tell by its time whether there is one."""
    failed = FailedLogin(email, purpose, ctx.caller.ip_address, ctx.caller.user_agent)
    async with ctx.unit() as unit:
        unit.defer(record_failed_login, failed)
    raise InvalidCredentials


async def forgive_attempts(ctx: Context, email: str) -> None:
    """Whoever showed to be the owner of the account may mistype again, at this address."""
    await _BY_BOTH.forgive(ctx, email, limit_address(ctx.caller.ip_address))


@job()
async def record_failed_login(ctx: Context, payload: FailedLogin) -> None:
    user = await find_by_email(ctx, payload.email)
    if user is None:
        return
    ctx.act_in(user.tenant_id)
    ctx.caller = msgspec.structs.replace(
        ctx.caller, ip_address=payload.ip_address, user_agent=payload.user_agent
    )
    failed = LoginFailed(user_id=user.id, reason="invalid_credentials", purpose=payload.purpose)
    ctx.emit(failed, success=False)


async def login(ctx: Context, body: Credentials) -> SignedIn | MfaRequired:
    async with ctx.unit() as unit:
        found = await find_by_email(unit, body.email)
    await check_password(ctx, body.email, found, body.password, PasswordFor.login)
    assert found is not None
    ctx.act_in(found.tenant_id)
    await _refuse_unready(ctx, found)
    await _strengthen(ctx, found, body.password)
    user = await fetch_unchanged(ctx, found)
    if user.mfa_enabled:
        return await _ask_second_factor(ctx, user)
    tokens = await sessions.begin(ctx, user)
    return SignedIn.of(tokens, user=SignedInUser.of(user))


async def _refuse_unready(ctx: Context, user: User) -> None:
    refusal: Forbidden
    if user.status is not UserStatus.active:
        refusal = AccountInactive(user.role)
    elif ctx.settings.require_verified_email and not user.email_verified:
        refusal = EmailNotVerified(user.role)
    else:
        return
    assert refusal.details is not None
    failed = LoginFailed(user_id=user.id, reason=refusal.details["reason"], purpose=PasswordFor.login)
    async with ctx.unit() as unit:
        unit.emit(failed, success=False)
    raise refusal


async def _strengthen(ctx: Context, user: User, password: str) -> None:
    """Hash the password anew when the cost setting was changed since."""
    cost = ctx.settings.password_cost
    if not passwords.needs_rehash(user.password_hash, cost):
        return
    new_hash = await passwords.hashed(password, cost)
    async with ctx.unit() as unit:
        changed = await unit.db.execute(
            _REHASH, user_id=user.id, old_hash=user.password_hash, new_hash=new_hash
        )
    if changed:
        user.password_hash = new_hash


async def fetch_unchanged(ctx: Context, seen: User) -> User:
    """The account, held until the end of the transaction; a password replaced meanwhile is a wrong one."""
    user = await ctx.db.lock(User, seen.id)
    if user is None or user.password_hash != seen.password_hash or user.status is not seen.status:
        raise InvalidCredentials
    return user


async def _ask_second_factor(ctx: Context, user: User) -> MfaRequired:
    challenge = await ctx.db.insert(MfaChallenge(user_id=user.id, expires_at=ctx.clock.ahead(MFA_TOKEN_S)))
    token = ctx.instance.tokens.issue("mfa", user.id, user.tenant_id, challenge.id, MFA_TOKEN_S)
    return MfaRequired(mfa_token=token)
