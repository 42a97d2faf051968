from retinue.access import service as access
from retinue.access.errors import RoleLocked
from retinue.access.loaders import RoleByName
from retinue.access.schemas import RoleUpdated
from retinue.auth.errors import StepUpRequired
from retinue.auth.mfa import step_up
from retinue.auth.schemas.roles import RoleUpdate
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes

routes = Routes("/roles", tag="permissions")


@routes.put("/{role}/permissions", requires="admin:roles", errors=(RoleLocked, StepUpRequired, VaultSealed))
async def set_role_permissions(ctx: Context, role: RoleByName, body: RoleUpdate) -> RoleUpdated:
    """Set the permissions of a role, for all tenants of the instance.

    They take effect with the next request of everyone who has the role. If the caller has MFA enabled, a
    `code` or the `password` is needed unless a second factor was shown within 15 minutes.
    """
    await step_up.require(ctx, code=body.code, password=body.password)
    permissions = await access.set_permissions(ctx, role, body.permissions)
    return RoleUpdated(role=role, permissions=permissions, message="The permissions have been changed.")
