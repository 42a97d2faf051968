from typing import Annotated

from retinue.access import service as access
from retinue.access.errors import RoleLocked, RoleNotFound
from retinue.access.models import Role
from retinue.access.queries import find_role
from retinue.access.schemas import RoleUpdated
from retinue.auth.errors import StepUpRequired
from retinue.auth.mfa import step_up
from retinue.auth.schemas.roles import RoleUpdate
from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded, Routes

routes = Routes("/roles", tag="permissions")

RoleByName = Annotated[Role, Loaded("role", find_role, RoleNotFound)]


@routes.put("/{role}/permissions", requires="admin:roles", errors=(RoleLocked, StepUpRequired))
async def set_role_permissions(ctx: Context, role: RoleByName, body: RoleUpdate) -> RoleUpdated:
    await step_up.require(ctx, code=body.code, password=body.password)
    permissions = await access.set_permissions(ctx, role, body.permissions)
    return RoleUpdated(role=role, permissions=permissions, message="The permissions have been changed.")
