from copy import copy
from typing import Annotated

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded


async def find_agent(ctx: Context, agent_id: str) -> Agent | None:
    """An agent of its own; a direct sub-agent is only reached through its parent."""
    known = await ctx.remembered((Agent, agent_id), lambda: ctx.db.get(Agent, agent_id))
    found = copy(known)
    return found if found is not None and found.parent_id is None else None


async def fetch_agent(ctx: Context, agent_id: str) -> Agent:
    found = await find_agent(ctx, agent_id)
    if found is None:
        raise AgentNotFound
    return found


AgentById = Annotated[Agent, Loaded("agent_id", find_agent, AgentNotFound)]
