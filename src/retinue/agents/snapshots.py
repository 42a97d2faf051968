"""The whole agent as one value: what a version keeps and a restore brings back."""

from typing import Any

import msgspec

from retinue.agents.models import Agent, RelationshipType, WebSearch
from retinue.agents.queries import AttachedAgent, AttachedTool, sub_agents_of, tools_of
from retinue.agents.schemas import DirectAgent, Snapshot, SubAgentSnapshot, ToolSnapshot
from retinue.kit.context import Context

VERSIONED = frozenset(Snapshot.__struct_fields__)
"""The parts of an agent whose change makes a version."""

_BOUND = "credential_destination"
"""Holds for whoever saved it, so it is no part of a snapshot."""


async def snapshot_of(ctx: Context, agent: Agent) -> Snapshot:
    return Snapshot.of(
        agent,
        web_search=_web_search(agent.web_search),
        tools=[_tool(one) for one in await tools_of(ctx, agent)],
        sub_agents=[_sub_agent(one) for one in await sub_agents_of(ctx, agent)],
    )


def _web_search(config: WebSearch) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(config)
    shown.pop(_BOUND, None)
    return shown


def _tool(one: AttachedTool) -> ToolSnapshot:
    return ToolSnapshot.of(one.attachment, name=one.tool.name)


def _sub_agent(one: AttachedAgent) -> SubAgentSnapshot:
    is_direct = one.relation.relationship_type is RelationshipType.direct
    return SubAgentSnapshot.of(
        one.relation,
        id=one.agent.id,
        name=one.agent.name,
        agent=DirectAgent.of(one.agent) if is_direct else None,
    )
