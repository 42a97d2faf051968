"""An address that has an account already: where accounts are hidden, only its owner hears of it."""

from retinue.adapters.mail.letters import letter
from retinue.adapters.mail.outgoing import post
from retinue.kit.context import Context
from retinue.users.queries import find_by_email


async def tell_owner(ctx: Context, email: str) -> None:
    """Mail the owner from the owner's tenant, in a transaction of its own."""
    async with ctx.unit() as unit:
        owner = await find_by_email(unit, email)
        if owner is None:
            return
        unit.act_in(owner.tenant_id)
        mail = letter(
            owner.email,
            "You already have an account",
            "Someone, perhaps you, asked for an account for your address, which has one already.",
            f"If you forgot your password, reset it: {ctx.settings.base_url}/forgot-password",
        )
        await post(unit, mail)
