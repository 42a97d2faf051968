"""Role permissions, and the rules that nobody grants a role above their own or a permission they lack."""

from collections.abc import Iterable

from retinue.access.catalogue import PEOPLE_ONLY, PERMISSION_KEYS, SUPER_ADMIN_ONLY, default_permissions
from retinue.access.errors import PermissionAboveYours, RoleAboveYours, RoleLocked
from retinue.access.events import RolePermissionsChanged
from retinue.access.models import Role, RolePermissions
from retinue.access.queries import permissions_of
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.principal import Principal

_HIGHEST_FIRST = tuple(Role)


def require_held(principal: Principal, permissions: Iterable[str]) -> None:
    """Raise `PermissionAboveYours` if the principal lacks one: nobody grants what they do not hold.

    Everything that hands permissions to somebody else calls this: service accounts and their secrets,
    invitations, changes of a user's role, and the permissions of roles.
    """
    lacking = in_catalogue_order(set(permissions) - principal.permissions)
    if lacking:
        raise PermissionAboveYours(lacking[0], principal.role)


async def require_role_grantable(ctx: Context, role: Role) -> None:
    """Raise unless the caller may give somebody this role: it is not higher, and all of it is held."""
    _require_rank(ctx.principal, role)
    require_held(ctx.principal, await permissions_of(ctx, role))


async def require_authority_over(ctx: Context, role: Role) -> None:
    """Raise unless the caller may change users with this role: one not higher, or for a machine, all held."""
    if ctx.principal.kind == "service_account":
        require_held(ctx.principal, await permissions_of(ctx, role))
    else:
        _require_rank(ctx.principal, role)


def _require_rank(principal: Principal, role: Role) -> None:
    # A service account has no rank among the roles; its permissions are compared instead.
    own = Role.__members__.get(principal.role)
    if own is not None and _HIGHEST_FIRST.index(role) < _HIGHEST_FIRST.index(own):
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
    require_held(ctx.principal, after - before)
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
    _require_known(keys)
    reserved = sorted(SUPER_ADMIN_ONLY.intersection(keys))
    if reserved:
        raise Invalid({"permissions": f"reserved for super administrators: {', '.join(reserved)}"})


def validate_machine_permissions(keys: list[str]) -> list[str]:
    """Return the keys in the catalogue's order; raise `Invalid` for one that no machine may hold."""
    _require_known(keys)
    reserved = sorted(PEOPLE_ONLY.intersection(keys))
    if reserved:
        raise Invalid({"permissions": f"reserved for people: {', '.join(reserved)}"})
    return in_catalogue_order(set(keys))


def _require_known(keys: list[str]) -> None:
    unknown = [key for key in keys if key not in PERMISSION_KEYS]
    if unknown:
        raise Invalid({"permissions": f"unknown permissions: {', '.join(unknown[:5])}"})


def in_catalogue_order(keys: frozenset[str] | set[str]) -> list[str]:
    return [key for key in PERMISSION_KEYS if key in keys]
