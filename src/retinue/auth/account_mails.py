"""The mails about an account: short, plain, with links that come from the configured address only."""

from enum import StrEnum

from retinue.adapters.mail.letters import Link, letter
from retinue.adapters.mail.outgoing import post
from retinue.kit.attempts import Guard
from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.request import limit_address
from retinue.users.models import User

# Counted for each purpose, and first for whoever asks from one place: a stranger who asks too often has used
# up the stranger's own share, not the mails of the address's owner.
_BY_CALLER = Guard("account-mail", limit=5, window_s=3600, message="Too many mails.")
_BY_ANYONE = Guard("account-mail-address", limit=20, window_s=3600, message="Too many mails.")


class AskedFor(StrEnum):
    """What strangers can have mailed to an address."""

    registration = "registration"
    verification = "verification"
    password_reset = "password_reset"  # noqa: S105  a purpose, not a password


async def may_ask_for(ctx: Context, purpose: AskedFor, email: str) -> bool:
    """Whether a stranger may cause one more mail to this address; counted with or without an account."""
    try:
        await _BY_CALLER.count(ctx, purpose, email, limit_address(ctx.caller.ip_address))
        await _BY_ANYONE.count(ctx, purpose, email)
    except RateLimited:
        return False
    return True


async def send_verification(ctx: Context, user: User, token: str) -> None:
    await _send(
        ctx,
        user,
        "Confirm your email address",
        "Open this link within 24 hours to confirm that this is your email address.",
        _link(ctx, "verify-email", token),
        "If you did not register, ignore this mail.",
    )


async def send_password_reset(ctx: Context, user: User, token: str) -> None:
    await _send(
        ctx,
        user,
        "Reset your password",
        "Open this link within one hour to choose a new password.",
        _link(ctx, "reset-password", token),
        "If you did not ask for this, ignore this mail; your password stays as it is.",
    )


async def send_password_changed(ctx: Context, user: User) -> None:
    await _send(
        ctx,
        user,
        "Your password was changed",
        "The password of your account was changed, and your other sessions were ended.",
        f"If this was not you, reset your password at once: {ctx.settings.base_url}/forgot-password",
    )


def _link(ctx: Context, page: str, token: str) -> Link:
    url = f"{ctx.settings.base_url}/{page}?token={token}"
    return Link(url, token, f"Or send this token to POST /auth/{page}:")


async def _send(ctx: Context, user: User, subject: str, *paragraphs: str | Link) -> None:
    # No name: whoever registers chooses it, and could send any text to any address that way.
    await post(ctx, letter(user.email, subject, *paragraphs))
