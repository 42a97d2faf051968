"""Many operations on agents in one request."""

from retinue.agents import service
from retinue.agents.loaders import fetch_agent
from retinue.agents.models import AgentStatus
from retinue.agents.queries import hold_graph
from retinue.agents.schemas import AgentCreate, AgentOut, AgentUpdate
from retinue.kit import batch
from retinue.kit.batch import Batch, BatchAnswer, BatchOperation, Performed
from retinue.kit.context import Context

_WRITE, _DELETE = "agents:write", "agents:delete"
_STATES = {"publish": AgentStatus.published, "archive": AgentStatus.archived}


async def carry_out(ctx: Context, body: Batch) -> BatchAnswer[AgentOut]:
    return await batch.carry_out(ctx, body, _perform, hold_graph)


async def _perform(ctx: Context, one: BatchOperation) -> Performed[AgentOut]:
    ctx.principal.require(_DELETE if one.op == "delete" else _WRITE)
    if one.op == "create":
        agent = await service.create(ctx, batch.read(one, AgentCreate))
        return Performed(agent.id, AgentOut.of(agent))
    agent = await fetch_agent(ctx, batch.require_id(one))
    if one.op == "delete":
        await service.delete(ctx, agent)
        return Performed(agent.id, None)
    if one.op == "update":
        changed = await service.update(ctx, agent, batch.read(one, AgentUpdate))
    else:
        changed = await service.change(ctx, agent, status=_STATES[one.op])
    return Performed(changed.id, AgentOut.of(changed))
