"""Password changes: with the current password, or with a reset link."""

import msgspec

from retinue.auth import account_mails, one_time_tokens, passwords, sessions, setup
from retinue.auth.account_mails import MailPurpose
from retinue.auth.errors import InvalidCredentials, InvalidToken, WrongCurrentPassword
from retinue.auth.events import PasswordChanged, PasswordResetLinkPrinted, PasswordResetRequested
from retinue.auth.job_kinds import SEND_PASSWORD_RESET, PasswordResetRequest
from retinue.auth.models import PasswordPurpose, TokenPurpose
from retinue.auth.schemas.accounts import LinkCheck, PasswordChange, PasswordReset
from retinue.auth.sign_in import check_password, lock_unchanged, reset_attempts
from retinue.kit.context import Context
from retinue.kit.errors import Conflict
from retinue.users.email_addresses import normalize_email
from retinue.users.errors import UserNotFound
from retinue.users.models import User, UserStatus
from retinue.users.queries import fetch_self, find_by_email
from retinue.users.schemas import Address


class PrintedLink(msgspec.Struct, frozen=True):
    url: str
    email: str
    has_second_factor: bool


async def request_reset(ctx: Context, body: Address) -> None:
    """Request a link. A job finds the account, so that the response time reveals nothing."""
    await account_mails.require_request_quota(ctx)
    if await account_mails.may_send_to(ctx, MailPurpose.password_reset, body.email):
        ctx.defer(SEND_PASSWORD_RESET, PasswordResetRequest(body.email))


async def send_password_reset(ctx: Context, payload: PasswordResetRequest) -> None:
    user = await find_by_email(ctx, payload.email)
    if user is None or user.status is not UserStatus.active:
        return
    ctx.bind_tenant(user.tenant_id)
    token = await one_time_tokens.issue(ctx, user, TokenPurpose.reset_password)
    ctx.emit(PasswordResetRequested(user_id=user.id))
    await account_mails.send_password_reset(ctx, user, token)


async def issue_reset_link(ctx: Context, email: str) -> PrintedLink:
    """Create a reset link for an operator with shell access, without mailing it."""
    user = await find_by_email(ctx, normalize_email(email))
    if user is None:
        raise UserNotFound(f"No account has the address {email}. Check the address and the data dir.")
    if user.status is not UserStatus.active:
        raise Conflict(f"The account {user.email} is deactivated. Ask an administrator to reactivate it.")
    ctx.bind_tenant(user.tenant_id)
    token = await one_time_tokens.issue(ctx, user, TokenPurpose.reset_password)
    ctx.emit(PasswordResetLinkPrinted(user_id=user.id))
    return PrintedLink(account_mails.password_reset_url(ctx, token), user.email, user.mfa_enabled)


async def reset(ctx: Context, body: PasswordReset) -> None:
    """Set a new password with a reset link. The next sign-in still asks for a second factor."""
    passwords.validate_password(body.new_password, "new_password")
    async with ctx.unit() as unit:
        token = await one_time_tokens.fetch(unit, body.token, TokenPurpose.reset_password)
    new_hash = await passwords.hash_for_anonymous(body.new_password, ctx.settings.password_cost, ctx.clock)
    ctx.bind_tenant(token.tenant_id)
    user = await ctx.db.lock(User, token.user_id)
    if user is None or user.status is not UserStatus.active:
        raise InvalidToken
    await one_time_tokens.spend(ctx, token)
    await _replace(ctx, user, new_hash, with_link=True)
    await reset_attempts(ctx, user.email)


async def change(ctx: Context, body: PasswordChange) -> None:
    """Set a new password with the current one. All other sessions of the caller end."""
    passwords.validate_password(body.new_password, "new_password")
    async with ctx.unit() as unit:
        seen = await fetch_self(unit)
    try:
        await check_password(ctx, seen.email, seen, body.current_password, PasswordPurpose.change_password)
        new_hash = await _hash_for_caller(ctx, body.new_password)
        user = await lock_unchanged(ctx, seen)
    except InvalidCredentials:
        raise WrongCurrentPassword from None
    await _replace(ctx, user, new_hash, with_link=False)


async def _hash_for_caller(ctx: Context, password: str) -> str:
    """Hash a password; accounts that are not admitted yet use the queue of anonymous callers."""
    cost = ctx.settings.password_cost
    if ctx.principal.restriction is not None:
        return await passwords.hash_for_anonymous(password, cost, ctx.clock)
    return await passwords.hash_password(password, cost)


async def _replace(ctx: Context, user: User, new_hash: str, *, with_link: bool) -> None:
    await ctx.db.update(user, password_hash=new_hash)
    await one_time_tokens.void(ctx, user, TokenPurpose.reset_password)
    await sessions.end_all(ctx, user, except_for="" if with_link else ctx.principal.session_id)
    ctx.emit(PasswordChanged(user_id=user.id, with_link=with_link))
    await account_mails.send_password_changed(ctx, user)


async def require_valid_link(ctx: Context, body: LinkCheck) -> None:
    """Raise as the form of the link would; the link is not spent, and nothing says whose it is."""
    if body.purpose == "setup":
        await setup.require_open_link(ctx, body.token)
    else:
        await one_time_tokens.fetch(ctx, body.token, TokenPurpose.reset_password)
