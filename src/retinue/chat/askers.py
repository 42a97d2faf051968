"""Whoever asked, again: a turn that goes on later goes on in their name, if they may still ask."""

from retinue.access.models import Role
from retinue.access.queries import permissions_of
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.principal import Principal
from retinue.users.models import User, UserStatus


class AccountInactive(RetinueError):
    """The account that asked is no longer active."""

    status, code = 403, "forbidden"


async def as_user(ctx: Context, user_id: str | None) -> Context:
    """In the name of a user of the tenant, or of a super administrator, who may ask in every tenant."""
    found = await ctx.system("super administrators ask in every tenant").get(User, user_id or "")
    is_own = found is not None and (found.tenant_id == ctx.tenant_id or found.role is Role.super_admin)
    if found is None or not is_own or found.status is not UserStatus.active:
        raise AccountInactive
    principal = Principal(
        kind="user",
        id=found.id,
        tenant_id=ctx.tenant_id,
        role=found.role,
        permissions=frozenset(await permissions_of(ctx, found.role)),
    )
    # Between the question and its turn its asker may have lost the right to ask.
    principal.require("agents:chat")
    return Context(ctx.instance, principal, ctx.caller, reads_freely=True)


def as_embed_key(ctx: Context, key_id: str, agent_id: str) -> Context:
    principal = Principal(
        kind="embed_key", id=key_id, tenant_id=ctx.tenant_id, role="embed_key", agent_id=agent_id
    )
    return Context(ctx.instance, principal, ctx.caller, reads_freely=True)
