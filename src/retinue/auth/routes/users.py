from retinue.access.errors import RoleAboveYours
from retinue.auth import administration
from retinue.auth.schemas.administration import MfaReset, RoleChange, RoleChanged, StatusChanged
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.schemas import Message
from retinue.users.errors import CannotModifySelf, LastSuperAdmin
from retinue.users.loaders import UserById

routes = Routes(tag="users")

_REFUSALS = (RoleAboveYours, CannotModifySelf)
_TAKING_AWAY = (*_REFUSALS, LastSuperAdmin)


@routes.put("/users/{user_id}/role", requires="admin:users", errors=_TAKING_AWAY)
async def change_user_role(ctx: Context, user: UserById, body: RoleChange) -> RoleChanged:
    changed = await administration.change_role(ctx, user, body.role)
    return RoleChanged.of(changed, message="The role has been changed.")


@routes.delete("/users/{user_id}", requires="admin:users", errors=_TAKING_AWAY)
async def delete_user(ctx: Context, user: UserById) -> Message:
    await administration.delete(ctx, user)
    return Message(message="The user has been deleted.")


@routes.post("/users/{user_id}/deactivate", requires="admin:users", errors=_TAKING_AWAY)
async def deactivate_user(ctx: Context, user: UserById) -> StatusChanged:
    changed = await administration.deactivate(ctx, user)
    return StatusChanged.of(changed, message="The user has been deactivated.")


@routes.post("/users/{user_id}/reactivate", requires="admin:users", errors=_REFUSALS)
async def reactivate_user(ctx: Context, user: UserById) -> StatusChanged:
    changed = await administration.reactivate(ctx, user)
    return StatusChanged.of(changed, message="The user has been reactivated.")


@routes.post("/api/v1/users/{user_id}/mfa/reset", requires="admin:users", errors=_REFUSALS)
async def reset_user_mfa(ctx: Context, user: UserById) -> MfaReset:
    changed = await administration.reset_mfa(ctx, user)
    return MfaReset.of(changed, message="The second factor of the user has been removed.")
