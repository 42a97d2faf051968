"""Registration: into the default tenant, a new tenant, or the tenant of an invitation."""

import msgspec
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.auth import email_verification, passwords, setup_state
from retinue.auth.account_mails import MailPurpose, may_send_to
from retinue.auth.errors import InvalidInvitation, RegistrationBeforeSetup, RegistrationDisabled
from retinue.auth.events import EmailVerified
from retinue.auth.schemas.accounts import InvitationDetails, Registered, Registration
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.http.request import limit_address
from retinue.kit.ids import hash_token, new_id
from retinue.kit.schema.validation import check_each
from retinue.tenants import service as tenants
from retinue.tenants.models import Plan, Tenant
from retinue.tenants.queries import own_tenant
from retinue.users.email_addresses import validate_email
from retinue.users.errors import EmailTaken
from retinue.users.events import InvitationAccepted, UserApprovalRequested, UserCreated
from retinue.users.existing_account_mail import notify_owner
from retinue.users.models import Invitation, User

_WELCOME = "Welcome."
_LINK_SENT = "A link to confirm your email address was sent to it. It works for 24 hours."
_NO_LINK = "No mail was sent, because this server has no mail server. You can sign in without confirming."
_NO_LINK_REQUIRED = (
    "Your email address must be confirmed before you can sign in, but this server has no mail server. "
    "Ask an administrator for the link."
)
_CONFIRMED = "Your email address is confirmed by the invitation."
_PENDING = "You can use your account once an administrator has approved it."

_invitations = Invitation.__table__
_ACCEPT = Statement(
    sa.update(_invitations)
    .where(_invitations.c.id == sa.bindparam("invitation_id"), _invitations.c.accepted_at.is_(None))
    .values(accepted_at=sa.bindparam("now"))
)


class _Membership(msgspec.Struct):
    """The tenant and role of a new account. Without `tenant_id`, a tenant is created for it."""

    tenant_id: str
    role: Role
    invitation_id: str = ""
    proves_address: bool = False
    is_pending: bool = False


async def register(ctx: Context, body: Registration) -> Registered:
    check_each(
        lambda: passwords.validate_password(body.password),
        lambda: validate_email(body.email),
    )
    await _require_quota(ctx)
    async with ctx.unit() as unit:
        await _require_administrator(unit)
        membership = await _resolve_membership(unit, body)
    may_mail = await may_send_to(ctx, MailPurpose.registration, body.email)
    password_hash = await passwords.hash_for_anonymous(body.password, ctx.settings.password_cost, ctx.clock)
    user = User(
        email=body.email,
        password_hash=password_hash,
        first_name=body.first_name,
        last_name=body.last_name,
        role=membership.role,
        email_verified=membership.proves_address,
        is_pending=membership.is_pending,
        is_vouched_for=bool(membership.invitation_id),
    )
    try:
        await _create(ctx, user, membership)
    except UniqueViolation:
        await ctx.rollback()
        if not ctx.settings.hide_accounts:
            raise EmailTaken from None
        if may_mail:
            await notify_owner(ctx, body.email)
        user.id = new_id(User.__prefix__)
    return Registered.of(user, message=_welcome(ctx, user))


def _welcome(ctx: Context, user: User) -> str:
    """Return what happens next; a mail is announced only if a mail server takes it."""
    if user.email_verified:
        address = _CONFIRMED
    elif ctx.settings.smtp_url is not None:
        address = _LINK_SENT
    else:
        address = _NO_LINK_REQUIRED if ctx.settings.require_verified_email else _NO_LINK
    return " ".join((_WELCOME, address, *((_PENDING,) if user.is_pending else ())))


async def _require_quota(ctx: Context) -> None:
    """Count a registration of this network address before it costs a hash or a mail."""
    key = f"registrations:{limit_address(ctx.caller.ip_address)}"
    settings = ctx.settings
    for limit, window_s in ((settings.registrations_per_minute, 60), (settings.registrations_per_hour, 3600)):
        decision = await ctx.instance.limiter.hit_window(key, limit, window_s)
        if not decision.allowed:
            raise decision.refusal()


async def _require_administrator(ctx: Context) -> None:
    """Refuse strangers where others reach the instance before its administrator does."""
    if not ctx.settings.is_development and await setup_state.is_open(ctx):
        raise RegistrationBeforeSetup


async def _resolve_membership(ctx: Context, body: Registration) -> _Membership:
    if body.invite_token is not None:
        invitation = await _fetch_invitation(ctx, body.invite_token, body.email)
        return _Membership(invitation.tenant_id, invitation.role, invitation.id, invitation.proves_address)
    policy = ctx.settings.signup_policy()
    if policy == "off":
        raise RegistrationDisabled
    if policy == "tenant":
        return _Membership("", Role.tenant_admin)
    tenant = await ctx.system("strangers have no tenant yet").find(Tenant, is_default=True)
    assert tenant is not None
    return _Membership(tenant.id, Role.agent_user, is_pending=policy == "pending")


async def describe_invitation(ctx: Context, token: str) -> InvitationDetails:
    """Return who invited whom to what, for the screen that the link opens."""
    invitation = await _find_open_invitation(ctx, token)
    ctx.bind_tenant(invitation.tenant_id)
    inviter = await ctx.db.get(User, invitation.invited_by)
    return InvitationDetails.of(
        invitation,
        organization=(await own_tenant(ctx)).name,
        invited_by=f"{inviter.first_name} {inviter.last_name}".strip() or None if inviter else None,
    )


async def _find_open_invitation(ctx: Context, token: str) -> Invitation:
    row = await ctx.system("the token alone says where it leads").find(
        Invitation, token_hash=hash_token(token)
    )
    if row is None or row.accepted_at or row.expires_at <= ctx.now:
        raise InvalidInvitation
    return row


async def _fetch_invitation(ctx: Context, token: str, email: str) -> Invitation:
    invitation = await _find_open_invitation(ctx, token)
    if invitation.email != email:
        raise InvalidInvitation
    return invitation


async def _create(ctx: Context, user: User, membership: _Membership) -> None:
    if membership.tenant_id:
        ctx.bind_tenant(membership.tenant_id)
        user.language = (await own_tenant(ctx)).language or user.language
    else:
        name = f"{user.first_name} {user.last_name}"[:100]
        await tenants.create(ctx, name=name, plan=Plan(ctx.settings.default_plan))
    await ctx.db.insert(user)
    ctx.emit(UserCreated(user_id=user.id, email=user.email, role=user.role))
    if membership.is_pending:
        ctx.emit(UserApprovalRequested(user_id=user.id, email=user.email, role=user.role))
    if membership.invitation_id:
        await _accept_invitation(ctx, membership.invitation_id, user)
    if user.email_verified:
        ctx.emit(EmailVerified(user_id=user.id))
    else:
        await email_verification.send_link(ctx, user)


async def _accept_invitation(ctx: Context, invitation_id: str, user: User) -> None:
    """Mark the invitation as accepted; of concurrent callers one succeeds."""
    if not await ctx.db.execute(_ACCEPT, invitation_id=invitation_id, now=ctx.now):
        raise InvalidInvitation
    ctx.emit(InvitationAccepted(invitation_id=invitation_id, user_id=user.id))
