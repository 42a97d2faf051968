from typing import Annotated

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.embed.errors import EmbedKeyNotFound, KeyAgentMismatch
from retinue.embed.models import EmbedKey
from retinue.kit.context import Context
from retinue.kit.http.routing import PathLoader, path_loader


def require_key_of_agent(ctx: Context, agent: Agent) -> None:
    """Raise KeyAgentMismatch if the caller's embed key belongs to another agent."""
    if ctx.principal.kind == "embed_key" and ctx.principal.agent_id != agent.id:
        raise KeyAgentMismatch


async def _find_agent(ctx: Context, id: str) -> Agent | None:
    agent = await ctx.db.get(Agent, id)
    if agent is not None:
        require_key_of_agent(ctx, agent)
    return agent


EmbedKeyById = Annotated[EmbedKey, path_loader(EmbedKey, "embed_key_id", EmbedKeyNotFound)]
PublicAgent = Annotated[Agent, PathLoader("agent_id", _find_agent, AgentNotFound)]
