"""Indexing of functions after an agent or a tool has changed, so that no turn has to."""

from retinue.agents.capabilities import capabilities
from retinue.agents.models import Agent
from retinue.agents.queries import find_agents_with_tool
from retinue.chat.engine.function_vectors import store_vectors
from retinue.chat.engine.tool_search import describe_functions
from retinue.chat.engine.toolbox import Toolbox
from retinue.kit.context import Context
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry

_TOOL_CHANGED = "system.tool.updated"
INDEXED_EVENTS = ("agent.created", "agent.updated", _TOOL_CHANGED)
"""Events that may change an agent's functions: attaching, detaching, imports, edits, a refresh of MCP."""


async def index_functions(ctx: Context, payload: EventOccurred) -> None:
    """Embed the functions of the agents that an event is about, if these agents search them."""
    event = await ctx.db.get(EventEntry, payload.event_id)
    if event is None:
        return
    agent_ids = [event.subject_id]
    if payload.type == _TOOL_CHANGED:
        agent_ids = [agent.id for agent in await find_agents_with_tool(ctx, event.subject_id)]
    for agent_id in agent_ids:
        agent = await ctx.db.get(Agent, agent_id)
        if agent is not None and agent.tool_count:
            toolbox = Toolbox.of(agent, await capabilities(ctx, agent), may_delegate=False)
            await store_vectors(ctx, describe_functions(toolbox.searched))
