from retinue.agents import sub_agents
from retinue.agents.errors import (
    AlreadyAttached,
    NotADirectSubAgent,
    SubAgentCycle,
    SubAgentNotFound,
    SubAgentsTooDeep,
    TooManyAttached,
)
from retinue.agents.loaders import AgentById
from retinue.agents.queries import load_sub_agents
from retinue.agents.schemas import DirectCreate, DirectUpdate, SubAgentAttach, SubAgentOut, SubAgentPatch
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/agents/{agent_id}/sub-agents", tag="agents")

_NO_ROOM = (SubAgentsTooDeep, TooManyAttached)


@routes.get("", requires="agents:read", wrap=True, cached=True)
async def list_sub_agents(ctx: Context, agent: AgentById) -> list[SubAgentOut]:
    """List the sub-agents, oldest first; direct ones carry their full configuration."""
    return [sub_agents.render_sub_agent(one) for one in await load_sub_agents(ctx, agent)]


@routes.post(
    "/attach", requires="agents:write", status=201, errors=(SubAgentCycle, AlreadyAttached, *_NO_ROOM)
)
async def attach_sub_agent(ctx: Context, agent: AgentById, body: SubAgentAttach) -> SubAgentOut:
    """Let the agent delegate to another agent of the tenant; the sub-agent keeps the id of that agent.

    At most 50 sub-agents per agent and 5 levels of delegation; cycles are refused (409 `sub_agent_cycle`).
    """
    return sub_agents.render_sub_agent(await sub_agents.attach(ctx, agent, body))


@routes.post("/direct", requires="agents:write", status=201, errors=_NO_ROOM)
async def create_direct_sub_agent(ctx: Context, agent: AgentById, body: DirectCreate) -> SubAgentOut:
    """Create an agent that exists only as a sub-agent of this one and is listed nowhere else.

    At most 50 sub-agents per agent and 5 levels of delegation.
    """
    return sub_agents.render_sub_agent(await sub_agents.create_direct(ctx, agent, body))


@routes.put("/direct/{sub_agent_id}", requires="agents:write", errors=(SubAgentNotFound, NotADirectSubAgent))
async def update_direct_sub_agent(
    ctx: Context, agent: AgentById, sub_agent_id: str, body: DirectUpdate
) -> SubAgentOut:
    """Change any fields of a direct sub-agent. Templates are refused with 409 `not_a_direct_sub_agent`."""
    return sub_agents.render_sub_agent(await sub_agents.update_direct(ctx, agent, sub_agent_id, body))


@routes.patch("/{sub_agent_id}", requires="agents:write", errors=(SubAgentNotFound,))
async def update_sub_agent(
    ctx: Context, agent: AgentById, sub_agent_id: str, body: SubAgentPatch
) -> SubAgentOut:
    """Change when the parent delegates to a sub-agent of either kind, or disable it."""
    return sub_agents.render_sub_agent(await sub_agents.patch(ctx, agent, sub_agent_id, body))


@routes.delete("/{sub_agent_id}", requires="agents:write", status=204, errors=(SubAgentNotFound,))
async def remove_sub_agent(ctx: Context, agent: AgentById, sub_agent_id: str) -> None:
    """Delete a direct sub-agent, or detach a template, which remains an agent of the tenant."""
    await sub_agents.detach(ctx, agent, sub_agent_id)
