"""Administration of accounts. It is part of auth because most of it ends sessions."""

from retinue.access.models import Role, RolePermissions
from retinue.access.service import require_authority_over, require_role_grantable
from retinue.auth import account_mails, one_time_tokens, sessions
from retinue.auth.errors import SessionNotFound
from retinue.auth.events import PasswordResetLinkIssued, SessionRevoked
from retinue.auth.mfa import devices
from retinue.auth.models import Session, TokenPurpose
from retinue.kit.context import Context, references
from retinue.kit.errors import Conflict
from retinue.kit.lists import PageQuery, Slice
from retinue.users import profiles
from retinue.users.errors import CannotModifySelf, LastSuperAdmin, UserNotFound
from retinue.users.events import (
    UserApproved,
    UserDeactivated,
    UserDeleted,
    UserMfaReset,
    UserReactivated,
    UserRoleChanged,
)
from retinue.users.models import User, UserStatus

MAX_RESET_LINKS_PER_HOUR = 10

REFERENCE = "user"
"""The target name that other domains use in a `kit.context.references.Reference`."""


async def change_role(ctx: Context, user: User, role: Role) -> User:
    """Give the user another role, effective from the user's next request."""
    user = await _lock_target(ctx, user)
    await require_role_grantable(ctx, role)
    await _approve(ctx, user)
    if user.role is role:
        return user
    await _require_other_super_admin(ctx, user)
    previous = user.role
    await ctx.db.update(user, role=role)
    ctx.emit(UserRoleChanged(user_id=user.id, role=role, previous_role=previous))
    return user


async def approve(ctx: Context, user: User) -> User:
    """Approve an account that registered by itself, effective from its next request."""
    user = await _lock_target(ctx, user)
    await require_role_grantable(ctx, user.role)
    await _approve(ctx, user)
    return user


async def deactivate(ctx: Context, user: User) -> User:
    user = await _lock_target(ctx, user)
    if user.status is UserStatus.inactive:
        return user
    await _require_other_super_admin(ctx, user)
    await ctx.db.update(user, status=UserStatus.inactive)
    await sessions.end_all(ctx, user)
    ctx.emit(UserDeactivated(user_id=user.id))
    return user


async def reactivate(ctx: Context, user: User) -> User:
    """Let the user sign in again. Sign-ins that overlapped with the deactivation stay ended."""
    user = await _lock_target(ctx, user)
    if user.status is UserStatus.active:
        return user
    await ctx.db.update(user, status=UserStatus.active)
    await sessions.end_all(ctx, user)
    ctx.emit(UserReactivated(user_id=user.id))
    return user


async def delete(ctx: Context, user: User) -> None:
    """Delete the user with sessions, devices and links. Records that only hold the user's id stay."""
    # Lock order (docs/architecture.md): referring rows first, then the user.
    await references.detach_referrers(ctx, REFERENCE, user.id)
    user = await _lock_target(ctx, user)
    await _require_other_super_admin(ctx, user)
    await profiles.discard_avatar(ctx, user)
    await ctx.db.delete(user)
    ctx.emit(UserDeleted(user_id=user.id))


async def reset_mfa(ctx: Context, user: User) -> User:
    """Remove another user's second factor. Removing your own takes a code."""
    user = await _lock_target(ctx, user)
    if not user.mfa_enabled:
        return user
    await devices.remove_all_factors(ctx, user)
    await sessions.end_all(ctx, user)
    ctx.emit(UserMfaReset(user_id=user.id))
    return user


async def page_of_sessions(ctx: Context, user: User, query: PageQuery) -> Slice[Session]:
    """Return the sessions of a user whom the caller may change, the last used one first."""
    await require_authority_over(ctx, user.role)
    return await sessions.page_of(ctx, user.id, query)


async def revoke_session(ctx: Context, user: User, session_id: str) -> None:
    """End one session of a user; its tokens stop working at once."""
    await require_authority_over(ctx, user.role)
    session = await ctx.db.find(Session, id=session_id, user_id=user.id)
    if session is None:
        raise SessionNotFound
    await ctx.db.delete(session)
    ctx.emit(SessionRevoked(user_id=user.id, session_id=session.id))


async def issue_reset_link(ctx: Context, user: User) -> str | None:
    """Mail a password reset link to a user; without a mail server, return it instead."""
    user = await _lock_target(ctx, user)
    if user.status is not UserStatus.active:
        raise Conflict("The account is deactivated. Reactivate it first.")
    window = f"reset-links:{user.id}"
    decision = await ctx.instance.limiter.hit_window(window, MAX_RESET_LINKS_PER_HOUR, 3600)
    if not decision.allowed:
        raise decision.refusal()
    token = await one_time_tokens.issue(ctx, user, TokenPurpose.reset_password)
    await account_mails.send_password_reset(ctx, user, token)
    is_mailed = ctx.settings.smtp_url is not None
    ctx.emit(PasswordResetLinkIssued(user_id=user.id, is_link_shown=not is_mailed))
    return None if is_mailed else account_mails.password_reset_url(ctx, token)


async def _approve(ctx: Context, user: User) -> None:
    if user.is_vouched_for and not user.is_pending:
        return
    await ctx.db.update(user, is_vouched_for=True, is_pending=False)
    ctx.emit(UserApproved(user_id=user.id))


async def _lock_target(ctx: Context, user: User) -> User:
    """Return the user, locked until the commit, if the caller may change that user."""
    if user.id == ctx.principal.id:
        raise CannotModifySelf
    locked = await ctx.db.lock(User, user.id)
    if locked is None:
        raise UserNotFound
    await require_authority_over(ctx, locked.role)
    return locked


async def _require_other_super_admin(ctx: Context, user: User) -> None:
    """Refuse to remove the last super administrator. The role's row is the lock against races."""
    if user.role is not Role.super_admin or user.status is not UserStatus.active:
        return
    system = ctx.system("super administrators are counted on the whole instance")
    await system.lock(RolePermissions, Role.super_admin)
    if await system.count(User, role=Role.super_admin, status=UserStatus.active) < 2:
        raise LastSuperAdmin
