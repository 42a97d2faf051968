"""Invitations: a place in the tenant and a role, held for a week for whoever gets the mail."""

from html import escape
from typing import Any

import sqlalchemy as sa

from retinue.access.service import require_rank
from retinue.adapters.mail import Mail
from retinue.adapters.mail.message import recipient
from retinue.adapters.mail.outgoing import post
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Conflict, Invalid
from retinue.kit.ids import hash_token, new_token
from retinue.tenants.queries import own_tenant
from retinue.users.errors import EmailTaken
from retinue.users.events import InvitationRevoked, UserInvited
from retinue.users.models import Invitation
from retinue.users.queries import find_by_email
from retinue.users.schemas import Invite

LIFETIME_S = 7 * 24 * 3600

_invitations = Invitation.__table__
_REPLACE: Statement[Any] = Statement(
    sa.delete(_invitations).where(_invitations.c.email == sa.bindparam("email"))
)


async def invite(ctx: Context, body: Invite) -> Invitation:
    """Invite an address that has no account; an earlier invitation of the tenant is void."""
    require_rank(ctx.principal, body.role)
    _check_address(body.email)
    if await find_by_email(ctx, body.email) is not None:
        raise EmailTaken
    await ctx.db.execute(_REPLACE, email=body.email)
    token = new_token()
    invitation = Invitation(
        email=body.email,
        role=body.role,
        token_hash=hash_token(token),
        invited_by=ctx.principal.id,
        expires_at=ctx.clock.ahead(LIFETIME_S),
    )
    try:
        await ctx.db.insert(invitation)
    except UniqueViolation as error:
        raise Conflict("Someone else is inviting this address at this moment.") from error
    await _send(ctx, invitation, token)
    ctx.emit(UserInvited(invitation_id=invitation.id, email=invitation.email, role=invitation.role))
    return invitation


async def revoke(ctx: Context, invitation: Invitation) -> None:
    await ctx.db.delete(invitation)
    ctx.emit(InvitationRevoked(invitation_id=invitation.id, email=invitation.email))


def _check_address(email: str) -> None:
    try:
        recipient(email)
    except Invalid:
        raise Invalid({"email": "must be one mail address"}) from None


async def _send(ctx: Context, invitation: Invitation, token: str) -> None:
    # Kept to one line, so that the name of a tenant cannot write paragraphs of ours.
    tenant = " ".join((await own_tenant(ctx)).name.split())
    url = f"{ctx.settings.base_url}/register?invite_token={token}"
    about = f"You are invited to join {tenant} as {invitation.role.replace('_', ' ')}."
    how = "Open this link within 7 days to create your account:"
    by_hand = "Or send this token as invite_token to POST /auth/register:"
    after = "If you do not know what this is about, ignore this mail."
    link = f'<a href="{escape(url)}">{escape(url)}</a>'
    plain = ["Hello,", about, how, url, by_hand, token, after]
    marked = ["Hello,", escape(about), how, link, by_hand, f"<code>{escape(token)}</code>", after]
    text = "\n\n".join(plain) + "\n"
    html = "".join(f"<p>{paragraph}</p>\n" for paragraph in marked)
    await post(ctx, Mail(invitation.email, "You are invited", text, html))
