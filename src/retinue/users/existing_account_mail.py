"""Mail to addresses that already have an account; where accounts are hidden, only the owner learns of it."""

from retinue.adapters.mail.mail_body import MailLink, build_mail
from retinue.adapters.mail.mail_queue import enqueue_mail
from retinue.kit.context import Context
from retinue.kit.http.account_links import account_link
from retinue.users.queries import find_by_email


async def notify_owner(ctx: Context, email: str) -> None:
    """Mail the account's owner from the owner's tenant, in a separate transaction."""
    async with ctx.unit() as unit:
        owner = await find_by_email(unit, email)
        if owner is None:
            return
        unit.bind_tenant(owner.tenant_id)
        mail = build_mail(
            owner.email,
            "You already have an account",
            "Someone, perhaps you, asked for an account for your address, but it already has one.",
            "If you forgot your password, choose a new one:",
            MailLink(account_link(ctx, "forgot-password")),
        )
        await enqueue_mail(unit, mail)
