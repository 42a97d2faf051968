"""The tools and sub-agents an agent may use in a turn."""

import msgspec

from retinue.agents.models import Agent
from retinue.agents.queries import AttachedAgent, AttachedTool, load_sub_agents, load_tools
from retinue.kit.context import Context

__all__ = ["AttachedAgent", "AttachedTool", "Capabilities", "capabilities"]


class Capabilities(msgspec.Struct, frozen=True):
    """Enabled tools with enabled attachments, in order, and enabled sub-agents that are not archived."""

    tools: list[AttachedTool]
    sub_agents: list[AttachedAgent]


async def capabilities(ctx: Context, agent: Agent) -> Capabilities:
    """Load the capabilities in at most two statements; none for an agent without tools and sub-agents."""
    return Capabilities(
        await load_tools(ctx, agent, usable=True), await load_sub_agents(ctx, agent, usable=True)
    )
