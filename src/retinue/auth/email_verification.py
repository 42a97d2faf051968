"""Verification of email addresses."""

from retinue.auth import account_mails, one_time_tokens
from retinue.auth.account_mails import MailPurpose
from retinue.auth.errors import InvalidToken
from retinue.auth.events import EmailVerified
from retinue.auth.job_kinds import SEND_VERIFICATION, VerificationRequest
from retinue.auth.models import TokenPurpose
from retinue.auth.schemas.accounts import EmailVerification
from retinue.kit.context import Context
from retinue.users.models import User, UserStatus
from retinue.users.queries import find_by_email
from retinue.users.schemas import Address


async def send_link(ctx: Context, user: User) -> None:
    token = await one_time_tokens.issue(ctx, user, TokenPurpose.verify_email)
    await account_mails.send_verification(ctx, user, token)


async def request_link(ctx: Context, body: Address) -> None:
    """Request a link. A job finds the account, so that the response time reveals nothing."""
    await account_mails.require_request_quota(ctx)
    if await account_mails.may_send_to(ctx, MailPurpose.verification, body.email):
        ctx.defer(SEND_VERIFICATION, VerificationRequest(body.email))


async def send_verification(ctx: Context, payload: VerificationRequest) -> None:
    user = await find_by_email(ctx, payload.email)
    if user is None or user.email_verified or user.status is not UserStatus.active:
        return
    ctx.bind_tenant(user.tenant_id)
    await send_link(ctx, user)


async def verify(ctx: Context, body: EmailVerification) -> None:
    token = await one_time_tokens.fetch(ctx, body.token, TokenPurpose.verify_email)
    ctx.bind_tenant(token.tenant_id)
    user = await ctx.db.lock(User, token.user_id)
    if user is None:
        raise InvalidToken
    await one_time_tokens.spend(ctx, token)
    await ctx.db.update(user, email_verified=True)
    ctx.emit(EmailVerified(user_id=user.id))
