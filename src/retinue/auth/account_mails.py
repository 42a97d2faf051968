"""Mails about an account: short and plain, with links built from the configured base URL only."""

from enum import StrEnum

from retinue.adapters.mail.mail_body import MailLink, build_mail
from retinue.adapters.mail.mail_queue import enqueue_mail
from retinue.kit.attempts import AttemptGuard
from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.account_links import account_link
from retinue.kit.http.request import limit_address
from retinue.users.models import User

# Counted per purpose, and per caller first: a stranger who asks too often uses up their own quota, not the
# quota of the address's owner.
_BY_CALLER = AttemptGuard("account-mail", limit=5, window_s=3600, message="Too many mails.")
_BY_RECIPIENT = AttemptGuard("account-mail-address", limit=20, window_s=3600, message="Too many mails.")
# One caller, any recipient. Only this limit is reported to callers: it reveals nothing about an account.
MAX_REQUESTS_PER_HOUR = 120


class MailPurpose(StrEnum):
    """The mails that unauthenticated callers can cause."""

    registration = "registration"
    verification = "verification"
    password_reset = "password_reset"  # noqa: S105  a purpose, not a password


async def require_request_quota(ctx: Context) -> None:
    """Count a mail request of this network address, whatever the recipient; raise if over the limit."""
    key = f"account-mails:{limit_address(ctx.caller.ip_address)}"
    decision = await ctx.instance.limiter.hit_window(key, MAX_REQUESTS_PER_HOUR, 3600)
    if not decision.allowed:
        raise decision.refusal()


async def may_send_to(ctx: Context, purpose: MailPurpose, email: str) -> bool:
    """Count a mail to this address and return whether it may be sent. Accounts are not looked up."""
    try:
        await _BY_CALLER.count(ctx, purpose, email, limit_address(ctx.caller.ip_address))
        await _BY_RECIPIENT.count(ctx, purpose, email)
    except RateLimited:
        return False
    return True


async def send_verification(ctx: Context, user: User, token: str) -> None:
    await _send(
        ctx,
        user,
        "Confirm your email address",
        "Open this link within 24 hours to confirm that this is your email address:",
        MailLink(
            account_link(ctx, "verify-email", token=token),
            token,
            "Or send this token to POST /auth/verify-email:",
        ),
        "If you did not register, ignore this mail.",
    )


async def send_password_reset(ctx: Context, user: User, token: str) -> None:
    await _send(
        ctx,
        user,
        "Reset your password",
        "Open this link within one hour to choose a new password:",
        MailLink(password_reset_url(ctx, token), token, "Or send this token to POST /auth/reset-password:"),
        "If you did not ask for this, ignore this mail; your password stays as it is.",
    )


async def send_password_changed(ctx: Context, user: User) -> None:
    await _send(
        ctx,
        user,
        "Your password was changed",
        "The password of your account was changed, and your other sessions were ended.",
        "If this was not you, reset your password at once:",
        MailLink(account_link(ctx, "forgot-password")),
    )


async def send_factor_added(ctx: Context, user: User) -> None:
    await _send(
        ctx,
        user,
        "A way to sign in was added to your account",
        "An authenticator or new recovery codes were added to your account by someone who knew your password "
        "and showed no second factor. In 24 hours it can also be used to remove your other authenticators.",
        "If this was not you, remove it with a code of your own authenticator and change your password at "
        "once:",
        MailLink(account_link(ctx, "forgot-password")),
    )


def password_reset_url(ctx: Context, token: str) -> str:
    return account_link(ctx, "reset-password", token=token)


async def _send(ctx: Context, user: User, subject: str, *paragraphs: str | MailLink) -> None:
    # No names: anyone who registers chooses one, and could mail arbitrary text to any address.
    await enqueue_mail(ctx, build_mail(user.email, subject, *paragraphs))
