"""Figures of agents in lists; the domain of the chats implements them."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from retinue.agents.models import Agent
from retinue.agents.schemas import AgentList, AgentListed, AgentRowStats, StatsPeriod
from retinue.kit.context import Context
from retinue.kit.lists import Page, Slice


class AgentFigures(msgspec.Struct, frozen=True):
    """`load(ctx, agent_ids, period)` returns the figures of all agents, in a fixed number of queries."""

    load: Callable[[Context, Sequence[str], StatsPeriod], Awaitable[dict[str, AgentRowStats]]]


async def listed(ctx: Context, page: Slice[Agent], query: AgentList) -> Page[AgentListed]:
    """Return the page, with figures if they were asked for."""
    if query.include is None:
        return page.to_page(lambda agent: AgentListed.of(agent, stats=msgspec.UNSET))
    figures: dict[str, AgentRowStats] = {}
    for provider in ctx.instance.registry.all(AgentFigures):
        figures |= await provider.load(ctx, [agent.id for agent in page.items], query.period)
    return page.to_page(lambda agent: AgentListed.of(agent, stats=figures[agent.id]))
