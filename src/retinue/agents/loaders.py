from copy import copy
from typing import Annotated

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.kit.context import Context
from retinue.kit.http.routing import PathLoader


async def find_agent(ctx: Context, agent_id: str) -> Agent | None:
    """Return an independent agent; direct sub-agents are only reached through their parent."""
    cached = await ctx.cached_config((Agent, agent_id), lambda: ctx.db.get(Agent, agent_id))
    agent = copy(cached)
    return agent if agent is not None and agent.parent_id is None else None


async def fetch_agent(ctx: Context, agent_id: str) -> Agent:
    agent = await find_agent(ctx, agent_id)
    if agent is None:
        raise AgentNotFound
    return agent


AgentById = Annotated[Agent, PathLoader("agent_id", find_agent, AgentNotFound)]
