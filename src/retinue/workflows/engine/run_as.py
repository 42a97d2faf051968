"""The user or service account that an execution acts for."""

from retinue.kit.context import Context
from retinue.users.acting_as import acting_as
from retinue.users.errors import RequesterInactive
from retinue.workflows.engine.node_type import NodeFailed
from retinue.workflows.models import WorkflowExecution


async def acting_as_starter(ctx: Context, execution: WorkflowExecution) -> Context:
    """Return a context of the user who started the execution, or who created the workflow if nobody did."""
    try:
        return await acting_as(ctx, execution.run_as)
    except RequesterInactive:
        raise NodeFailed(
            "account_inactive",
            "The account that the workflow runs as is not active. Reactivate it, or retry as another user.",
            is_final=True,
        ) from None


async def require_permission(ctx: Context, execution: WorkflowExecution, permission: str) -> None:
    """Raise `NodeFailed` unless the user has the permission now: a workflow grants no extra rights."""
    starter_ctx = ctx if ctx.principal.owner_id else await acting_as_starter(ctx, execution)
    if not starter_ctx.principal.may(permission):
        raise NodeFailed(
            "forbidden",
            f"The account that the workflow runs as lacks the permission {permission}.",
            is_final=True,
        )
