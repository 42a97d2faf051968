"""What roles may do, and who may give them to whom."""

from retinue.access.catalogue import KEYS, SUPER_ADMIN_ONLY, default_permissions
from retinue.access.errors import RoleAboveYours, RoleLocked
from retinue.access.events import RolePermissionsChanged
from retinue.access.models import Role, RolePermissions
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.principal import Principal

_HIGHEST_FIRST = tuple(Role)


def require_rank(principal: Principal, role: Role) -> None:
    """Refuse to reach above oneself: nobody grants or touches a role higher than the own one."""
    if _HIGHEST_FIRST.index(role) < _HIGHEST_FIRST.index(Role(principal.role)):
        raise RoleAboveYours(role, principal.role)


async def prepare_roles(ctx: Context) -> None:
    """Every role has its row, and a permission of a newer release reaches whom it is meant for."""
    system = ctx.system("roles are the same for every tenant")
    for role in Role:
        await system.insert_missing(
            RolePermissions(id=role, permissions=default_permissions(role), known=list(KEYS))
        )
        held = await system.lock(RolePermissions, role)
        assert held is not None
        new = set(KEYS) - set(held.known)
        if new:
            after = set(held.permissions) | new.intersection(default_permissions(role))
            await system.update(held, permissions=in_order(after), known=list(KEYS))


async def set_permissions(ctx: Context, role: Role, keys: list[str]) -> list[str]:
    """Give the role exactly these permissions; they count from the next request of anyone who has it."""
    if role is Role.super_admin:
        raise RoleLocked
    _check(keys)
    system = ctx.system("roles are the same for every tenant")
    held = await system.lock(RolePermissions, role)
    assert held is not None
    before, after = set(held.permissions), set(keys)
    if before != after:
        await system.update(held, permissions=in_order(after))
        ctx.emit(
            RolePermissionsChanged(
                role=role, granted=in_order(after - before), withdrawn=in_order(before - after)
            )
        )
    return held.permissions


def _check(keys: list[str]) -> None:
    unknown = [key for key in keys if key not in KEYS]
    if unknown:
        raise Invalid({"permissions": f"{', '.join(unknown[:5])}: not a permission"})
    kept = sorted(SUPER_ADMIN_ONLY.intersection(keys))
    if kept:
        raise Invalid({"permissions": f"{', '.join(kept)}: for super administrators only"})


def in_order(keys: frozenset[str] | set[str]) -> list[str]:
    """The keys as the catalogue lists them."""
    return [key for key in KEYS if key in keys]
