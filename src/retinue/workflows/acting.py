"""In whose name a run acts."""

from retinue.access.models import Role
from retinue.access.queries import permissions_of
from retinue.kit.context import Context
from retinue.kit.principal import Principal
from retinue.users.models import User, UserStatus
from retinue.workflows.models import WorkflowExecution
from retinue.workflows.nodes.kinds import NodeFailed


async def as_starter(ctx: Context, execution: WorkflowExecution) -> Context:
    """A context of whoever started the run, or made the workflow where nobody did."""
    user = await ctx.system("super administrators act in every tenant").get(User, execution.run_as)
    is_own = user is not None and (user.tenant_id == ctx.tenant_id or user.role is Role.super_admin)
    if user is None or not is_own or user.status is not UserStatus.active:
        raise NodeFailed(
            "account_inactive", "The account that the workflow runs for is not active.", is_final=True
        )
    principal = Principal(
        kind="user",
        id=user.id,
        tenant_id=ctx.tenant_id,
        role=user.role,
        permissions=frozenset(await permissions_of(ctx, user.role)),
    )
    return Context(ctx.instance, principal, ctx.caller, reads_freely=True)


async def require_right(ctx: Context, execution: WorkflowExecution, permission: str) -> None:
    """What somebody may not do himself, a workflow does not do for him; looked up when it is to be done."""
    acting = ctx if ctx.principal.kind == "user" else await as_starter(ctx, execution)
    if not acting.principal.may(permission):
        raise NodeFailed(
            "forbidden", f"The account that the workflow runs for may not: {permission}.", is_final=True
        )
