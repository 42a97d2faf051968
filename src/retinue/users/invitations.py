"""Invitations: a place in the tenant and a role, held for a week for whoever gets the mail."""

from typing import Any

import sqlalchemy as sa

from retinue.access.service import require_rank
from retinue.adapters.mail.letters import Link, letter
from retinue.adapters.mail.outgoing import post
from retinue.kit.attempts import Guard
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Conflict
from retinue.kit.ids import hash_token, new_id, new_token
from retinue.tenants.queries import own_tenant
from retinue.users.addresses import check_address
from retinue.users.errors import EmailTaken
from retinue.users.events import InvitationRevoked, UserInvited
from retinue.users.models import Invitation
from retinue.users.queries import find_by_email
from retinue.users.schemas import Invite
from retinue.users.taken_addresses import tell_owner

LIFETIME_S = 7 * 24 * 3600

_MAILS = Guard("invitation", limit=5, window_s=3600, message="This address was invited too often.")

_invitations = Invitation.__table__
_REPLACE: Statement[Any] = Statement(
    sa.delete(_invitations).where(_invitations.c.email == sa.bindparam("email"))
)


async def invite(ctx: Context, body: Invite) -> Invitation:
    """Invite an address that has no account; an earlier invitation of the tenant is void.

    Where accounts are hidden, an account of another tenant looks like none: nothing is stored, and the
    mail that goes out tells its owner.
    """
    require_rank(ctx.principal, body.role)
    check_address(body.email)
    async with ctx.unit() as unit:
        owner = await find_by_email(unit, body.email)
    if owner is not None and not (ctx.settings.hide_accounts and owner.tenant_id != ctx.tenant_id):
        raise EmailTaken
    await _MAILS.count(ctx, ctx.tenant_id, body.email)
    token = new_token()
    invitation = Invitation(
        id=new_id(Invitation.__prefix__),
        email=body.email,
        role=body.role,
        token_hash=hash_token(token),
        invited_by=ctx.principal.id,
        expires_at=ctx.clock.ahead(LIFETIME_S),
    )
    if owner is None:
        await _replace(ctx, invitation)
        await _send(ctx, invitation, token)
    else:
        await tell_owner(ctx, owner.email)
    ctx.emit(UserInvited(invitation_id=invitation.id, email=invitation.email, role=invitation.role))
    return invitation


async def revoke(ctx: Context, invitation: Invitation) -> None:
    await ctx.db.delete(invitation)
    ctx.emit(InvitationRevoked(invitation_id=invitation.id, email=invitation.email))


async def _replace(ctx: Context, invitation: Invitation) -> None:
    await ctx.db.execute(_REPLACE, email=invitation.email)
    try:
        await ctx.db.insert(invitation)
    except UniqueViolation as error:
        raise Conflict("Someone else is inviting this address at this moment.") from error


async def _send(ctx: Context, invitation: Invitation, token: str) -> None:
    # Kept to one line, so that the name of a tenant cannot write paragraphs of ours.
    tenant = " ".join((await own_tenant(ctx)).name.split())
    url = f"{ctx.settings.base_url}/register?invite_token={token}"
    mail = letter(
        invitation.email,
        "You are invited",
        f"You are invited to join {tenant} as {invitation.role.replace('_', ' ')}.",
        "Open this link within 7 days to create your account:",
        Link(url, token, "Or send this token as invite_token to POST /auth/register:"),
        "If you do not know what this is about, ignore this mail.",
    )
    await post(ctx, mail)
