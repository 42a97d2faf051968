"""Role permissions, and the rule that nobody grants a role above their own."""

from retinue.access.catalogue import PERMISSION_KEYS, SUPER_ADMIN_ONLY, default_permissions
from retinue.access.errors import RoleAboveYours, RoleLocked
from retinue.access.events import RolePermissionsChanged
from retinue.access.models import Role, RolePermissions
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.principal import Principal

_HIGHEST_FIRST = tuple(Role)


def require_rank(principal: Principal, role: Role) -> None:
    """Raise `RoleAboveYours` if the role is higher than the principal's own."""
    if _HIGHEST_FIRST.index(role) < _HIGHEST_FIRST.index(Role(principal.role)):
        raise RoleAboveYours(role, principal.role)


async def create_missing_roles(ctx: Context) -> None:
    """Create missing role rows and grant new permissions to the roles that hold them by default."""
    system = ctx.system("roles are the same for every tenant")
    for role in Role:
        await system.insert_missing(
            RolePermissions(id=role, permissions=default_permissions(role), known=list(PERMISSION_KEYS))
        )
        locked = await system.lock(RolePermissions, role)
        assert locked is not None
        new = set(PERMISSION_KEYS) - set(locked.known)
        if new:
            after = set(locked.permissions) | new.intersection(default_permissions(role))
            await system.update(locked, permissions=in_catalogue_order(after), known=list(PERMISSION_KEYS))


async def set_permissions(ctx: Context, role: Role, keys: list[str]) -> list[str]:
    """Give the role exactly these permissions, effective from its holders' next request."""
    if role is Role.super_admin:
        raise RoleLocked
    _validate_keys(keys)
    system = ctx.system("roles are the same for every tenant")
    locked = await system.lock(RolePermissions, role)
    assert locked is not None
    before, after = set(locked.permissions), set(keys)
    if before != after:
        await system.update(locked, permissions=in_catalogue_order(after))
        ctx.emit(
            RolePermissionsChanged(
                role=role,
                granted=in_catalogue_order(after - before),
                withdrawn=in_catalogue_order(before - after),
            )
        )
    return locked.permissions


def _validate_keys(keys: list[str]) -> None:
    unknown = [key for key in keys if key not in PERMISSION_KEYS]
    if unknown:
        raise Invalid({"permissions": f"unknown permissions: {', '.join(unknown[:5])}"})
    reserved = sorted(SUPER_ADMIN_ONLY.intersection(keys))
    if reserved:
        raise Invalid({"permissions": f"reserved for super administrators: {', '.join(reserved)}"})


def in_catalogue_order(keys: frozenset[str] | set[str]) -> list[str]:
    return [key for key in PERMISSION_KEYS if key in keys]
