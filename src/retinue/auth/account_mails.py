"""The mails about an account: short, plain, with links that come from the configured address only."""

from html import escape

from retinue.adapters.mail import Mail
from retinue.adapters.mail.message import recipient
from retinue.adapters.mail.outgoing import post
from retinue.kit.attempts import Guard
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RateLimited
from retinue.users.models import User

_PER_ADDRESS = Guard("account-mail", limit=5, window_s=3600, message="Too many mails.")


def check_address(email: str) -> None:
    """Refuse what looks like an address but cannot be mailed to."""
    try:
        recipient(email)
    except Invalid:
        raise Invalid({"email": "must be one mail address"}) from None


async def may_ask_for(ctx: Context, email: str) -> bool:
    """Whether a stranger may cause one more mail to this address; counted with or without an account."""
    try:
        await _PER_ADDRESS.count(ctx, email)
    except RateLimited:
        return False
    return True


async def send_verification(ctx: Context, user: User, token: str) -> None:
    await _send(
        ctx,
        user,
        "Confirm your email address",
        "Open this link within 24 hours to confirm that this is your email address.",
        link=("verify-email", token),
        after="If you did not register, ignore this mail.",
    )


async def send_password_reset(ctx: Context, user: User, token: str) -> None:
    await _send(
        ctx,
        user,
        "Reset your password",
        "Open this link within one hour to choose a new password.",
        link=("reset-password", token),
        after="If you did not ask for this, ignore this mail; your password stays as it is.",
    )


async def send_password_changed(ctx: Context, user: User) -> None:
    await _send(
        ctx,
        user,
        "Your password was changed",
        "The password of your account was changed, and your other sessions were ended.",
        after=f"If this was not you, reset your password at once: {ctx.settings.base_url}/forgot-password",
    )


async def send_already_registered(ctx: Context, user: User) -> None:
    await _send(
        ctx,
        user,
        "You already have an account",
        "Someone, perhaps you, tried to register with your address, which has an account already.",
        after=f"If you forgot your password, reset it: {ctx.settings.base_url}/forgot-password",
    )


async def _send(
    ctx: Context,
    user: User,
    subject: str,
    line: str,
    *,
    link: tuple[str, str] | None = None,
    after: str,
) -> None:
    # No name: whoever registers chooses it, and could send any text to any address that way.
    paragraphs = ["Hello,", line]
    html = [escape(paragraph) for paragraph in paragraphs]
    if link is not None:
        page, token = link
        url = f"{ctx.settings.base_url}/{page}?token={token}"
        by_hand = f"Or send this token to POST /auth/{page}:"
        paragraphs += [url, by_hand, token]
        html += [
            f'<a href="{escape(url)}">{escape(url)}</a>',
            escape(by_hand),
            f"<code>{escape(token)}</code>",
        ]
    paragraphs.append(after)
    html.append(escape(after))
    text = "\n\n".join(paragraphs) + "\n"
    markup = "".join(f"<p>{paragraph}</p>\n" for paragraph in html)
    await post(ctx, Mail(user.email, subject, text, markup))
