from retinue.access.models import Role, RolePermissions
from retinue.kit.context import Context


async def find_role(ctx: Context, name: str) -> RolePermissions | None:
    if name not in Role.__members__:
        return None
    return await ctx.system("roles are the same for every tenant").get(RolePermissions, name)
