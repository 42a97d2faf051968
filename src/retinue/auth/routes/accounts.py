from retinue.auth import email_verification, password_change, registration
from retinue.auth.errors import (
    InvalidInvitation,
    InvalidToken,
    RegistrationBeforeSetup,
    RegistrationDisabled,
    SetupClosed,
    WrongCurrentPassword,
)
from retinue.auth.schemas.accounts import (
    EmailVerification,
    InvitationDetails,
    InvitationToken,
    LinkCheck,
    PasswordChange,
    PasswordReset,
    Registered,
    Registration,
)
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import ACCOUNT, PUBLIC, Routes
from retinue.kit.schema.base import MessageReply
from retinue.users.errors import EmailTaken
from retinue.users.schemas import Address

routes = Routes("/auth", tag="auth")

_NO_MAIL_SERVER = "This server has no mail server, so no link was sent. Ask an administrator for one."


@routes.post(
    "/register",
    requires=PUBLIC,
    status=201,
    idempotent=False,
    errors=(RegistrationDisabled, RegistrationBeforeSetup, EmailTaken, InvalidInvitation, VaultSealed),
)
async def register(ctx: Context, body: Registration) -> Registered:
    """Create an account and mail a link that verifies its address.

    The instance's sign-up policy decides whether it joins the default tenant, waits there for approval, gets
    a tenant of its own, or is refused with 403. With `invite_token` it joins the invited tenant instead. An
    instance that others can reach refuses everybody until it has an administrator. The number of
    registrations per network address is limited.
    """
    return await registration.register(ctx, body)


@routes.post("/invitation", requires=PUBLIC, idempotent=False, errors=(InvalidInvitation,))
async def read_invitation(ctx: Context, body: InvitationToken) -> InvitationDetails:
    """Return who invited whom to what, by the token of the invitation's link.

    An unknown, expired, accepted or revoked invitation is refused with 422.
    """
    return await registration.describe_invitation(ctx, body.invite_token)


@routes.post("/link", requires=PUBLIC, idempotent=False, errors=(InvalidToken, SetupClosed))
async def check_link(ctx: Context, body: LinkCheck) -> MessageReply:
    """Say whether the link of the set-up or of a password reset still works; it is not used up by this.

    A wrong, used or expired link is refused as its form would refuse it: with 422, or with 409
    `setup_closed` once the instance is set up.
    """
    await password_change.require_valid_link(ctx, body)
    return MessageReply(message="The link works.")


@routes.post("/verify-email", requires=PUBLIC, idempotent=False, errors=(InvalidToken,))
async def verify_email(ctx: Context, body: EmailVerification) -> MessageReply:
    """Confirm an email address with the token that was mailed to it."""
    await email_verification.verify(ctx, body)
    return MessageReply(message="Your email address is confirmed.")


@routes.post("/resend-verification", requires=PUBLIC, idempotent=False)
async def resend_verification(ctx: Context, body: Address) -> MessageReply:
    """Mail a new verification link.

    The response is the same whether or not the address has an unverified account.
    """
    await email_verification.request_link(ctx, body)
    if ctx.settings.smtp_url is None:
        return MessageReply(message=_NO_MAIL_SERVER)
    return MessageReply(
        message="If this address is waiting for confirmation, a new link was sent to it. "
        "Earlier links no longer work."
    )


@routes.post("/forgot-password", requires=PUBLIC, idempotent=False)
async def forgot_password(ctx: Context, body: Address) -> MessageReply:
    """Mail a link to reset the password. The response is the same without an account for the address."""
    await password_change.request_reset(ctx, body)
    if ctx.settings.smtp_url is None:
        return MessageReply(message=_NO_MAIL_SERVER)
    return MessageReply(
        message="If this address has an account, a link to reset the password was sent to it. "
        "It works for one hour."
    )


@routes.post("/reset-password", requires=PUBLIC, idempotent=False, errors=(InvalidToken, VaultSealed))
async def reset_password(ctx: Context, body: PasswordReset) -> MessageReply:
    """Set a new password with the token that was mailed.

    All sessions of the account end. A second factor is still asked for at the next sign-in.
    """
    await password_change.reset(ctx, body)
    return MessageReply(message="Your password has been changed. Sign in with the new one.")


@routes.post(
    "/change-password", requires=ACCOUNT, idempotent=False, errors=(WrongCurrentPassword, VaultSealed)
)
async def change_password(ctx: Context, body: PasswordChange) -> MessageReply:
    """Change the caller's own password.

    All other sessions of the caller end, and a mail informs the owner.
    """
    await password_change.change(ctx, body)
    return MessageReply(message="Your password has been changed. Your other sessions have ended.")
