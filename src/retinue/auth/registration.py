"""Registering: into the default tenant, into a tenant of one's own, or where one was invited."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.auth import email_verification, passwords
from retinue.auth.account_mails import AskedFor, may_ask_for
from retinue.auth.errors import InvalidInvitation, RegistrationDisabled
from retinue.auth.schemas.accounts import Registered, Registration
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.ids import hash_token, new_id
from retinue.tenants import service as tenants
from retinue.tenants.models import Plan, Tenant
from retinue.users.addresses import check_address
from retinue.users.errors import EmailTaken
from retinue.users.events import InvitationAccepted, UserCreated
from retinue.users.models import Invitation, User
from retinue.users.taken_addresses import tell_owner

_WELCOME = "Welcome. A link to confirm your email address was sent to it."

_invitations = Invitation.__table__
_ACCEPT: Statement[Any] = Statement(
    sa.update(_invitations)
    .where(_invitations.c.id == sa.bindparam("invitation_id"), _invitations.c.accepted_at.is_(None))
    .values(accepted_at=sa.bindparam("now"))
)


class _Place(msgspec.Struct):
    """Where a new account goes; without a tenant it gets its own."""

    tenant_id: str
    role: Role
    invitation_id: str = ""


async def register(ctx: Context, body: Registration) -> Registered:
    passwords.check_rule(body.password)
    check_address(body.email)
    async with ctx.unit() as unit:
        place = await _place_for(unit, body)
    may_mail = await may_ask_for(ctx, AskedFor.registration, body.email)
    password_hash = await passwords.hashed(body.password, ctx.settings.password_cost)
    user = User(
        email=body.email,
        password_hash=password_hash,
        first_name=body.first_name,
        last_name=body.last_name,
        role=place.role,
    )
    try:
        await _create(ctx, user, place)
    except UniqueViolation:
        await ctx.rollback()
        if not ctx.settings.hide_accounts:
            raise EmailTaken from None
        if may_mail:
            await tell_owner(ctx, body.email)
        user.id = new_id(User.__prefix__)
    return Registered.of(user, message=_WELCOME)


async def _place_for(ctx: Context, body: Registration) -> _Place:
    if body.invite_token is not None:
        invitation = await _fetch_invitation(ctx, body.invite_token, body.email)
        return _Place(invitation.tenant_id, invitation.role, invitation.id)
    if ctx.settings.signup == "off":
        raise RegistrationDisabled
    if ctx.settings.signup == "tenant":
        return _Place("", Role.tenant_admin)
    tenant = await ctx.system("strangers have no tenant yet").find(Tenant, is_default=True)
    assert tenant is not None
    return _Place(tenant.id, Role.agent_user)


async def _fetch_invitation(ctx: Context, token: str, email: str) -> Invitation:
    found = await ctx.system("the token alone says where it leads").find(
        Invitation, token_hash=hash_token(token)
    )
    if found is None or found.accepted_at or found.expires_at <= ctx.now or found.email != email:
        raise InvalidInvitation
    return found


async def _create(ctx: Context, user: User, place: _Place) -> None:
    if place.tenant_id:
        ctx.act_in(place.tenant_id)
    else:
        name = f"{user.first_name} {user.last_name}"[:100]
        await tenants.create(ctx, name=name, plan=Plan(ctx.settings.default_plan))
    await ctx.db.insert(user)
    ctx.emit(UserCreated(user_id=user.id, email=user.email, role=user.role))
    if place.invitation_id:
        await _accept(ctx, place.invitation_id, user)
    await email_verification.send_link(ctx, user)


async def _accept(ctx: Context, invitation_id: str, user: User) -> None:
    """Use the invitation up; of many who try at once, one succeeds."""
    if not await ctx.db.execute(_ACCEPT, invitation_id=invitation_id, now=ctx.now):
        raise InvalidInvitation
    ctx.emit(InvitationAccepted(invitation_id=invitation_id, user_id=user.id))
