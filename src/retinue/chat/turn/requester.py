"""The requester of a turn that is answered later: a user as they are now, or an embed key."""

from retinue.kit.context import Context
from retinue.kit.principal import Principal


def acting_as_embed_key(ctx: Context, key_id: str, agent_id: str) -> Context:
    principal = Principal(
        kind="embed_key", id=key_id, tenant_id=ctx.tenant_id, role="embed_key", agent_id=agent_id
    )
    return Context(ctx.instance, principal, ctx.caller, reads_outside_transaction=True)
