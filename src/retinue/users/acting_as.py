"""Acting for a user: background work and links store a user's id, and load the user's current permissions."""

from retinue.access.models import Role
from retinue.access.queries import permissions_of
from retinue.kit.context import Context
from retinue.kit.principal import Principal
from retinue.users.admission import is_admitted
from retinue.users.errors import RequesterInactive
from retinue.users.models import User


async def acting_as(
    ctx: Context,
    user_id: str | None,
    *,
    requires: str | None = None,
    reads_outside_transaction: bool = True,
) -> Context:
    """Return a context in which the user acts with the current role.

    Raises `RequesterInactive` if the account is deleted, deactivated, not admitted or of another tenant
    (super administrators act in every tenant), and `Forbidden` if its role no longer has the permission.
    """
    user = await ctx.system("super administrators act in every tenant").get(User, user_id or "")
    if user is None or not is_admitted(ctx.settings, user):
        raise RequesterInactive
    if user.tenant_id != ctx.tenant_id and user.role is not Role.super_admin:
        raise RequesterInactive
    principal = Principal(
        kind="user",
        id=user.id,
        tenant_id=ctx.tenant_id,
        role=user.role,
        permissions=frozenset(await permissions_of(ctx, user.role)),
    )
    if requires is not None:
        principal.require(requires)
    return Context(ctx.instance, principal, ctx.caller, reads_outside_transaction=reads_outside_transaction)
