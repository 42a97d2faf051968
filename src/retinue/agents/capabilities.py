"""What an agent may use in a turn."""

import msgspec

from retinue.agents.models import Agent
from retinue.agents.queries import AttachedAgent, AttachedTool, sub_agents_of, tools_of
from retinue.kit.context import Context

__all__ = ["AttachedAgent", "AttachedTool", "Capabilities", "capabilities"]


class Capabilities(msgspec.Struct, frozen=True):
    """Enabled attachments of enabled tools in their order, and enabled sub-agents that are not archived."""

    tools: list[AttachedTool]
    sub_agents: list[AttachedAgent]


async def capabilities(ctx: Context, agent: Agent) -> Capabilities:
    """At most two statements, and none for an agent that has neither tools nor sub-agents."""
    return Capabilities(await tools_of(ctx, agent, usable=True), await sub_agents_of(ctx, agent, usable=True))
