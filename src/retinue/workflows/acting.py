"""In whose name a run acts."""

from retinue.access.models import Role
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
    principal = Principal(kind="user", id=user.id, tenant_id=ctx.tenant_id, role=user.role)
    return Context(ctx.instance, principal, ctx.caller, reads_freely=True)
