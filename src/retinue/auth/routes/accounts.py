from retinue.auth import email_verification, password_change, registration
from retinue.auth.errors import InvalidCredentials, InvalidInvitation, InvalidToken, RegistrationDisabled
from retinue.auth.schemas.accounts import (
    EmailVerification,
    PasswordChange,
    PasswordReset,
    Registered,
    Registration,
)
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import PUBLIC, SIGNED_IN, Routes
from retinue.kit.schemas import Message
from retinue.users.errors import EmailTaken
from retinue.users.schemas import Address

routes = Routes("/auth", tag="auth")


@routes.post(
    "/register",
    requires=PUBLIC,
    status=201,
    idempotent=False,
    errors=(RegistrationDisabled, EmailTaken, InvalidInvitation, VaultSealed),
)
async def register(ctx: Context, body: Registration) -> Registered:
    return await registration.register(ctx, body)


@routes.post("/verify-email", requires=PUBLIC, idempotent=False, errors=(InvalidToken,))
async def verify_email(ctx: Context, body: EmailVerification) -> Message:
    await email_verification.verify(ctx, body)
    return Message(message="Your email address is confirmed.")


@routes.post("/resend-verification", requires=PUBLIC, idempotent=False)
async def resend_verification(ctx: Context, body: Address) -> Message:
    await email_verification.send_link_again(ctx, body)
    return Message(message="If this address waits for confirmation, a new link was sent to it.")


@routes.post("/forgot-password", requires=PUBLIC, idempotent=False)
async def forgot_password(ctx: Context, body: Address) -> Message:
    await password_change.forget(ctx, body)
    return Message(message="If this address has an account, a link to reset the password was sent to it.")


@routes.post("/reset-password", requires=PUBLIC, idempotent=False, errors=(InvalidToken, VaultSealed))
async def reset_password(ctx: Context, body: PasswordReset) -> Message:
    await password_change.reset(ctx, body)
    return Message(message="Your password is changed; sign in with it.")


@routes.post(
    "/change-password", requires=SIGNED_IN, idempotent=False, errors=(InvalidCredentials, VaultSealed)
)
async def change_password(ctx: Context, body: PasswordChange) -> Message:
    await password_change.change(ctx, body)
    return Message(message="Your password is changed; your other sessions have ended.")
