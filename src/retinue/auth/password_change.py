"""Replacing a password: with the old one, or with a link that was mailed to the account's address."""

import msgspec

from retinue.auth import account_mails, one_time_tokens, passwords, sessions
from retinue.auth.account_mails import AskedFor
from retinue.auth.errors import InvalidToken
from retinue.auth.events import PasswordChanged, PasswordResetRequested
from retinue.auth.models import TokenPurpose
from retinue.auth.schemas.accounts import PasswordChange, PasswordReset
from retinue.auth.sign_in import PasswordFor, check_password, fetch_unchanged, forgive_attempts
from retinue.kit.context import Context
from retinue.kit.jobs.declare import job
from retinue.users.models import User, UserStatus
from retinue.users.queries import fetch_self, find_by_email
from retinue.users.schemas import Address


class ResetWanted(msgspec.Struct):
    email: str


async def forget(ctx: Context, body: Address) -> None:
    """Ask for a link; the account is looked for later, so that the answer takes everyone the same time."""
    if await account_mails.may_ask_for(ctx, AskedFor.password_reset, body.email):
        ctx.defer(prepare_password_reset, ResetWanted(body.email))


@job()
async def prepare_password_reset(ctx: Context, payload: ResetWanted) -> None:
    user = await find_by_email(ctx, payload.email)
    if user is None or user.status is not UserStatus.active:
        return
    ctx.act_in(user.tenant_id)
    token = await one_time_tokens.issue(ctx, user, TokenPurpose.reset_password)
    ctx.emit(PasswordResetRequested(user_id=user.id))
    await account_mails.send_password_reset(ctx, user, token)


async def reset(ctx: Context, body: PasswordReset) -> None:
    """Choose a new password with a mailed link; a second factor is still asked for at the next sign-in."""
    passwords.check_rule(body.new_password, "new_password")
    async with ctx.unit() as unit:
        token = await one_time_tokens.fetch(unit, body.token, TokenPurpose.reset_password)
    new_hash = await passwords.hashed(body.new_password, ctx.settings.password_cost)
    ctx.act_in(token.tenant_id)
    user = await ctx.db.lock(User, token.user_id)
    if user is None or user.status is not UserStatus.active:
        raise InvalidToken
    await one_time_tokens.spend(ctx, token)
    await _replace(ctx, user, new_hash, with_link=True)
    await forgive_attempts(ctx, user.email)


async def change(ctx: Context, body: PasswordChange) -> None:
    """Choose a new password with the old one; the session that asks goes on, every other ends."""
    passwords.check_rule(body.new_password, "new_password")
    async with ctx.unit() as unit:
        seen = await fetch_self(unit)
    await check_password(ctx, seen.email, seen, body.current_password, PasswordFor.change_password)
    new_hash = await passwords.hashed(body.new_password, ctx.settings.password_cost)
    user = await fetch_unchanged(ctx, seen)
    await _replace(ctx, user, new_hash, with_link=False)


async def _replace(ctx: Context, user: User, new_hash: str, *, with_link: bool) -> None:
    await ctx.db.update(user, password_hash=new_hash)
    await one_time_tokens.void(ctx, user, TokenPurpose.reset_password)
    await sessions.end_all(ctx, user, except_for="" if with_link else ctx.principal.session_id)
    ctx.emit(PasswordChanged(user_id=user.id, with_link=with_link))
    await account_mails.send_password_changed(ctx, user)
