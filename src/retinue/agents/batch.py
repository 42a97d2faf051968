"""Many operations on agents in one request."""

from retinue.agents import service
from retinue.agents.loaders import fetch_agent
from retinue.agents.models import AgentStatus
from retinue.agents.queries import lock_agent_graph
from retinue.agents.schemas import AgentCreate, AgentOut, AgentUpdate
from retinue.kit.context import Context
from retinue.kit.http import batch
from retinue.kit.http.batch import Batch, BatchAnswer, BatchOperation, OperationResult

_WRITE, _DELETE = "agents:write", "agents:delete"
_STATES = {"publish": AgentStatus.published, "archive": AgentStatus.archived}


async def run_batch(ctx: Context, body: Batch) -> BatchAnswer[AgentOut]:
    return await batch.run_batch(ctx, body, _perform, lock_agent_graph)


async def _perform(ctx: Context, operation: BatchOperation) -> OperationResult[AgentOut]:
    ctx.principal.require(_DELETE if operation.op == "delete" else _WRITE)
    if operation.op == "create":
        agent = await service.create(ctx, batch.parse_operation_data(ctx, operation, AgentCreate))
        return OperationResult(agent.id, AgentOut.of(agent))
    agent = await fetch_agent(ctx, batch.require_id(operation))
    if operation.op == "delete":
        await service.delete(ctx, agent)
        return OperationResult(agent.id, None)
    if operation.op == "update":
        changed = await service.update(ctx, agent, batch.parse_operation_data(ctx, operation, AgentUpdate))
    else:
        changed = await service.change(ctx, agent, status=_STATES[operation.op])
    return OperationResult(changed.id, AgentOut.of(changed))
