"""The tools and sub-agents an agent may use in a turn."""

import msgspec

from retinue.agents.models import Agent
from retinue.agents.pinned import PinnedConfiguration, load_pinned_sub_agents, load_pinned_tools
from retinue.agents.queries import AttachedAgent, AttachedTool, load_sub_agents, load_tools
from retinue.kit.context import Context

__all__ = ["AttachedAgent", "AttachedTool", "Capabilities", "capabilities"]


class Capabilities(msgspec.Struct, frozen=True):
    """Enabled tools with enabled attachments, in order, and enabled sub-agents that are not archived."""

    tools: list[AttachedTool]
    sub_agents: list[AttachedAgent]


async def capabilities(ctx: Context, agent: Agent, pinned: PinnedConfiguration | None = None) -> Capabilities:
    """Load what the agent may use, or what a pinned configuration of it says.

    The agent itself takes at most two statements, none without tools and sub-agents.
    """
    if pinned is not None:
        return Capabilities(
            await load_pinned_tools(ctx, agent, pinned.snapshot),
            await load_pinned_sub_agents(ctx, agent, pinned.snapshot),
        )
    return Capabilities(
        await load_tools(ctx, agent, usable=True), await load_sub_agents(ctx, agent, usable=True)
    )
