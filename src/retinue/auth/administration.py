"""What administrators do to accounts; here, because most of it ends sessions."""

from retinue.access.models import Role, RolePermissions
from retinue.access.service import require_rank
from retinue.auth import sessions
from retinue.auth.mfa import devices
from retinue.kit.context import Context
from retinue.users import profiles
from retinue.users.errors import CannotModifySelf, LastSuperAdmin, UserNotFound
from retinue.users.events import (
    UserDeactivated,
    UserDeleted,
    UserMfaReset,
    UserReactivated,
    UserRoleChanged,
)
from retinue.users.models import User, UserStatus


async def change_role(ctx: Context, user: User, role: Role) -> User:
    """Give the user another role, from the user's next request on."""
    user = await _hold(ctx, user)
    require_rank(ctx.principal, role)
    if user.role is role:
        return user
    await _keep_a_super_admin(ctx, user)
    previous = user.role
    await ctx.db.update(user, role=role)
    ctx.emit(UserRoleChanged(user_id=user.id, role=role, previous_role=previous))
    return user


async def deactivate(ctx: Context, user: User) -> User:
    user = await _hold(ctx, user)
    if user.status is UserStatus.inactive:
        return user
    await _keep_a_super_admin(ctx, user)
    await ctx.db.update(user, status=UserStatus.inactive)
    await sessions.end_all(ctx, user)
    ctx.emit(UserDeactivated(user_id=user.id))
    return user


async def reactivate(ctx: Context, user: User) -> User:
    """Let the user sign in again; a sign-in that overlapped with the deactivation stays dead."""
    user = await _hold(ctx, user)
    if user.status is UserStatus.active:
        return user
    await ctx.db.update(user, status=UserStatus.active)
    await sessions.end_all(ctx, user)
    ctx.emit(UserReactivated(user_id=user.id))
    return user


async def delete(ctx: Context, user: User) -> None:
    """Sessions, devices and links go with the row; what only knew the id stays the tenant's."""
    user = await _hold(ctx, user)
    await _keep_a_super_admin(ctx, user)
    await profiles.discard_avatar(ctx, user)
    await ctx.db.delete(user)
    ctx.emit(UserDeleted(user_id=user.id))


async def reset_mfa(ctx: Context, user: User) -> User:
    """Take away the second factor; never the own one, which asks for a code."""
    user = await _hold(ctx, user)
    if not user.mfa_enabled:
        return user
    await devices.take_away(ctx, user)
    await sessions.end_all(ctx, user)
    ctx.emit(UserMfaReset(user_id=user.id))
    return user


async def _hold(ctx: Context, user: User) -> User:
    """The user as of now, held until the commit, if the caller may change that user at all."""
    if user.id == ctx.principal.id:
        raise CannotModifySelf
    held = await ctx.db.lock(User, user.id)
    if held is None:
        raise UserNotFound
    require_rank(ctx.principal, held.role)
    return held


async def _keep_a_super_admin(ctx: Context, user: User) -> None:
    """Refuse to take away the last one; the role's row is the lock, so of two who try at once one waits."""
    if user.role is not Role.super_admin or user.status is not UserStatus.active:
        return
    system = ctx.system("super administrators are counted on the whole instance")
    await system.lock(RolePermissions, Role.super_admin)
    if await system.count(User, role=Role.super_admin, status=UserStatus.active) < 2:
        raise LastSuperAdmin
