"""Acting for somebody: background work and links store an id, and load what its owner may do now."""

from retinue.access.models import Role
from retinue.access.queries import permissions_of
from retinue.kit.context import Context
from retinue.kit.principal import Principal
from retinue.service_accounts.principals import find_active_principal
from retinue.service_accounts.queries import ID_PREFIX as SERVICE_ACCOUNT_PREFIX
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
    """Return a context in which the user or service account acts with what it may do now.

    Raises `RequesterInactive` if the account is deleted, deactivated, expired, not admitted or of another
    tenant (super administrators act in every tenant), and `Forbidden` if it no longer has the permission.
    """
    principal = await _find_principal(ctx, user_id or "")
    if principal is None:
        raise RequesterInactive
    if requires is not None:
        principal.require(requires)
    return Context(ctx.instance, principal, ctx.caller, reads_outside_transaction=reads_outside_transaction)


async def _find_principal(ctx: Context, user_id: str) -> Principal | None:
    if user_id.startswith(SERVICE_ACCOUNT_PREFIX):
        return await find_active_principal(ctx, user_id)
    user = await ctx.system("super administrators act in every tenant").get(User, user_id)
    if user is None or not is_admitted(ctx.settings, user):
        return None
    if user.tenant_id != ctx.tenant_id and user.role is not Role.super_admin:
        return None
    return Principal(
        kind="user",
        id=user.id,
        tenant_id=ctx.tenant_id,
        role=user.role,
        permissions=frozenset(await permissions_of(ctx, user.role)),
    )
