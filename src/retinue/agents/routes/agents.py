from retinue.agents import details, service
from retinue.agents.errors import NotArchived
from retinue.agents.loaders import AgentById
from retinue.agents.models import AgentStatus
from retinue.agents.queries import AGENTS
from retinue.agents.schemas import (
    AgentCreate,
    AgentDetail,
    AgentList,
    AgentOut,
    AgentSummary,
    AgentUpdate,
)
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/agents", tag="agents")


@routes.get("", requires="agents:read")
async def list_agents(ctx: Context, query: AgentList) -> Page[AgentSummary]:
    return (await AGENTS.page(ctx.db, query)).shown(AgentSummary.of)


@routes.post("", requires="agents:write", status=201)
async def create_agent(ctx: Context, body: AgentCreate) -> AgentOut:
    """Any model identifier is taken; whether it can be used shows when the agent is asked."""
    return AgentOut.of(await service.create(ctx, body))


@routes.get("/{agent_id}", requires="agents:read")
async def get_agent(ctx: Context, agent: AgentById) -> AgentDetail:
    return await details.shown(ctx, agent, AgentDetail)


@routes.put("/{agent_id}", requires="agents:write", errors=(InvalidTransition,))
async def update_agent(ctx: Context, agent: AgentById, body: AgentUpdate) -> AgentOut:
    """Each change makes a version; null takes what is optional back to its default."""
    return AgentOut.of(await service.update(ctx, agent, body))


@routes.delete("/{agent_id}", requires="agents:delete", status=204)
async def delete_agent(ctx: Context, agent: AgentById) -> None:
    """Removes its documents, embed keys, attachments and direct sub-agents as well."""
    await service.delete(ctx, agent)


@routes.post("/{agent_id}/publish", requires="agents:write", errors=(InvalidTransition,))
async def publish_agent(ctx: Context, agent: AgentById) -> AgentOut:
    return AgentOut.of(await service.change(ctx, agent, status=AgentStatus.published))


@routes.post("/{agent_id}/archive", requires="agents:write")
async def archive_agent(ctx: Context, agent: AgentById) -> AgentOut:
    return AgentOut.of(await service.change(ctx, agent, status=AgentStatus.archived))


@routes.post("/{agent_id}/restore", requires="agents:write", errors=(NotArchived,))
async def restore_agent(ctx: Context, agent: AgentById) -> AgentOut:
    return AgentOut.of(await service.restore(ctx, agent))
