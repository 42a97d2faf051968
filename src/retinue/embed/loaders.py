from typing import Annotated

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.embed.errors import EmbedKeyNotFound, KeyAgentMismatch
from retinue.embed.models import EmbedKey
from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded, loaded


def require_own(ctx: Context, agent: Agent) -> None:
    """An embed key is for one agent and no other."""
    if ctx.principal.kind == "embed_key" and ctx.principal.agent_id != agent.id:
        raise KeyAgentMismatch


async def _fetch(ctx: Context, id: str) -> Agent | None:
    agent = await ctx.db.get(Agent, id)
    if agent is not None:
        require_own(ctx, agent)
    return agent


EmbedKeyById = Annotated[EmbedKey, loaded(EmbedKey, "embed_key_id", EmbedKeyNotFound)]
PublicAgent = Annotated[Agent, Loaded("agent_id", _fetch, AgentNotFound)]
