"""Proving that an address is one's own."""

import msgspec

from retinue.auth import account_mails, one_time_tokens
from retinue.auth.account_mails import AskedFor
from retinue.auth.errors import InvalidToken
from retinue.auth.events import EmailVerified
from retinue.auth.models import TokenPurpose
from retinue.auth.schemas.accounts import EmailVerification
from retinue.kit.context import Context
from retinue.kit.jobs.declare import job
from retinue.users.models import User, UserStatus
from retinue.users.queries import find_by_email
from retinue.users.schemas import Address


class VerificationWanted(msgspec.Struct):
    email: str


async def send_link(ctx: Context, user: User) -> None:
    token = await one_time_tokens.issue(ctx, user, TokenPurpose.verify_email)
    await account_mails.send_verification(ctx, user, token)


async def send_link_again(ctx: Context, body: Address) -> None:
    """The account is looked for later, so that the answer takes the same time for everyone."""
    if await account_mails.may_ask_for(ctx, AskedFor.verification, body.email):
        ctx.defer(prepare_verification, VerificationWanted(body.email))


@job()
async def prepare_verification(ctx: Context, payload: VerificationWanted) -> None:
    user = await find_by_email(ctx, payload.email)
    if user is None or user.email_verified or user.status is not UserStatus.active:
        return
    ctx.act_in(user.tenant_id)
    await send_link(ctx, user)


async def verify(ctx: Context, body: EmailVerification) -> None:
    token = await one_time_tokens.fetch(ctx, body.token, TokenPurpose.verify_email)
    ctx.act_in(token.tenant_id)
    user = await ctx.db.lock(User, token.user_id)
    if user is None:
        raise InvalidToken
    await one_time_tokens.spend(ctx, token)
    await ctx.db.update(user, email_verified=True)
    ctx.emit(EmailVerified(user_id=user.id))
