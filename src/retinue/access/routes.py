from retinue.access import service as access
from retinue.access.catalogue import CATALOGUE
from retinue.access.loaders import RoleByName
from retinue.access.queries import permissions_of
from retinue.access.schemas import PermissionCatalogue, PermissionOut, RoleOut
from retinue.kit.context import Context
from retinue.kit.http.routing import SIGNED_IN, Routes

routes = Routes(tag="permissions")


@routes.get("/permissions", requires="admin:users", cached=True)
async def list_permissions(ctx: Context) -> PermissionCatalogue:  # noqa: ARG001  the catalogue is a constant
    """List every permission that a role can hold."""
    return PermissionCatalogue(permissions=[PermissionOut.of(permission) for permission in CATALOGUE])


@routes.get("/roles/{role}/permissions", requires="admin:users", cached=True)
async def get_role_permissions(ctx: Context, role: RoleByName) -> RoleOut:
    """Return the permissions of a role. They are the same in all tenants."""
    return RoleOut(role=role, permissions=await permissions_of(ctx, role))


@routes.get("/me/permissions", requires=SIGNED_IN, or_service_account=True)
async def get_my_permissions(ctx: Context) -> RoleOut:
    """Return the caller's role and the permissions it holds now."""
    return RoleOut(role=ctx.principal.role, permissions=access.in_catalogue_order(ctx.principal.permissions))
