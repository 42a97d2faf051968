from retinue.access.models import Role, RolePermissions
from retinue.kit.context import Context


async def find_role(ctx: Context, name: str) -> Role | None:  # noqa: ARG001  loaders take a context
    return Role.__members__.get(name)


async def permissions_of(ctx: Context, role: Role) -> list[str]:
    row = await ctx.system("roles are the same for every tenant").get(RolePermissions, role)
    return row.permissions if row else []
