"""Invitations: a place in a tenant with a role, valid for one week."""

import msgspec
import sqlalchemy as sa

from retinue.access.service import require_role_grantable
from retinue.adapters.mail.mail_body import MailLink, build_mail
from retinue.adapters.mail.mail_queue import enqueue_mail
from retinue.kit.attempts import AttemptGuard
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Conflict
from retinue.kit.http.account_links import account_link
from retinue.kit.ids import hash_token, new_id, new_token
from retinue.kit.json_types import JsonObject
from retinue.tenants.queries import own_tenant
from retinue.users.email_addresses import validate_email
from retinue.users.errors import EmailTaken, InvitationNotFound
from retinue.users.events import InvitationResent, InvitationRevoked, UserInvited
from retinue.users.existing_account_mail import notify_owner
from retinue.users.models import Invitation
from retinue.users.queries import find_by_email
from retinue.users.schemas import Invite

LIFETIME_SECONDS = 7 * 24 * 3600

_BY_EMAIL = AttemptGuard("invitation", limit=5, window_s=3600, message="This address was invited too often.")

# Applies where every registration creates a tenant: anybody can be an administrator there, so the mails that
# one tenant can cause in a day are limited.
_BY_TENANT = AttemptGuard(
    "invitation-tenant", limit=500, window_s=86_400, message="Your tenant has sent too many invitations."
)

_invitations = Invitation.__table__
_REPLACE = Statement(sa.delete(_invitations).where(_invitations.c.email == sa.bindparam("email")))


class IssuedInvitation(msgspec.Struct, frozen=True):
    """An invitation and the link just created for it."""

    invitation: Invitation
    link: str

    @property
    def is_link_shown(self) -> bool:
        """Whether the inviter gets the link, because no mail server is set up."""
        return not self.invitation.proves_address


async def invite(ctx: Context, body: Invite) -> IssuedInvitation:
    """Invite an address that has no account; an earlier invitation of the tenant becomes void.

    Where accounts are hidden, an account of another tenant is treated as absent: the stored row and the
    response are the same, but the mail informs the owner of the account instead.
    """
    # In a unit: what follows needs units too, so no transaction may be open.
    async with ctx.unit() as unit:
        await require_role_grantable(unit, body.role)
    validate_email(body.email)
    is_hidden = await _is_hidden_account(ctx, body.email)
    await _require_quota(ctx, body.email)
    if is_hidden:
        await notify_owner(ctx, body.email)
    token = new_token()
    invitation = Invitation(
        id=new_id(Invitation.__prefix__),
        email=body.email,
        role=body.role,
        invited_by=ctx.principal.id,
        **_token_fields(ctx, token),
    )
    await _replace(ctx, invitation)
    if not is_hidden:
        await _mail(ctx, invitation, token)
    issued = IssuedInvitation(invitation, _link(ctx, token))
    ctx.emit(
        UserInvited(
            invitation_id=invitation.id,
            email=invitation.email,
            role=invitation.role,
            is_link_shown=issued.is_link_shown,
        )
    )
    return issued


async def resend(ctx: Context, invitation: Invitation) -> IssuedInvitation:
    """Create a new link with the full lifetime; the previous link becomes void."""
    await require_role_grantable(ctx, invitation.role)
    is_hidden = await _is_hidden_account(ctx, invitation.email)
    await _require_quota(ctx, invitation.email)
    if is_hidden:
        await notify_owner(ctx, invitation.email)
    token = new_token()
    async with ctx.unit() as unit:
        locked = await unit.db.lock(Invitation, invitation.id)
        if locked is None:
            raise InvitationNotFound
        if locked.accepted_at is not None:
            raise Conflict("This invitation was already accepted.")
        await unit.db.update(locked, **_token_fields(ctx, token))
        if not is_hidden:
            await _mail(unit, locked, token)
        issued = IssuedInvitation(locked, _link(ctx, token))
        unit.emit(
            InvitationResent(invitation_id=locked.id, email=locked.email, is_link_shown=issued.is_link_shown)
        )
    return issued


async def _require_quota(ctx: Context, email: str) -> None:
    await _BY_EMAIL.count(ctx, ctx.tenant_id, email)
    if ctx.settings.signup_policy() == "tenant":
        await _BY_TENANT.count(ctx, ctx.tenant_id)


async def _is_hidden_account(ctx: Context, email: str) -> bool:
    """Return whether the address has an account that must stay hidden; raise for a visible one."""
    async with ctx.unit() as unit:
        owner = await find_by_email(unit, email)
    if owner is not None and not (ctx.settings.hide_accounts and owner.tenant_id != ctx.tenant_id):
        raise EmailTaken
    return owner is not None


def _token_fields(ctx: Context, token: str) -> JsonObject:
    return {
        "token_hash": hash_token(token),
        "expires_at": ctx.clock.ahead(LIFETIME_SECONDS),
        "proves_address": ctx.settings.smtp_url is not None,
    }


def _link(ctx: Context, token: str) -> str:
    return account_link(ctx, "register", invite_token=token)


async def revoke(ctx: Context, invitation: Invitation) -> None:
    await ctx.db.delete(invitation)
    ctx.emit(InvitationRevoked(invitation_id=invitation.id, email=invitation.email))


async def _replace(ctx: Context, invitation: Invitation) -> None:
    await ctx.db.execute(_REPLACE, email=invitation.email)
    try:
        await ctx.db.insert(invitation)
    except UniqueViolation as error:
        raise Conflict("Someone else is inviting this address right now. Try again.") from error


async def _mail(ctx: Context, invitation: Invitation, token: str) -> None:
    # One line only, so that a tenant's name cannot add paragraphs to the mail.
    tenant = " ".join((await own_tenant(ctx)).name.split())
    mail = build_mail(
        invitation.email,
        "You are invited",
        f"You are invited to join {tenant} as {invitation.role.replace('_', ' ')}.",
        "Open this link within 7 days to create your account:",
        MailLink(_link(ctx, token), token, "Or send this token as invite_token to POST /auth/register:"),
        "If you do not know what this is about, ignore this mail.",
    )
    await enqueue_mail(ctx, mail)
