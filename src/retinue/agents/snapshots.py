"""Snapshots of a whole agent, stored in versions and used by restore."""

import msgspec

from retinue.agents.models import Agent, RelationshipType, WebSearch
from retinue.agents.queries import AttachedAgent, AttachedTool, load_sub_agents, load_tools
from retinue.agents.schemas import DirectAgent, Snapshot, SubAgentSnapshot, ToolSnapshot
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject

VERSIONED_FIELDS = frozenset(Snapshot.__struct_fields__)
"""The fields whose change creates a version."""

_UNVERSIONED_FIELD = "credential_destination"
"""Only valid for the user who saved it, so it is left out of snapshots."""


async def build_snapshot(ctx: Context, agent: Agent) -> Snapshot:
    return Snapshot.of(
        agent,
        web_search=web_search_snapshot(agent.web_search),
        tools=[_tool(attached) for attached in await load_tools(ctx, agent)],
        sub_agents=[_sub_agent(attached) for attached in await load_sub_agents(ctx, agent)],
    )


def web_search_snapshot(config: WebSearch) -> JsonObject:
    shown: JsonObject = msgspec.to_builtins(config)
    shown.pop(_UNVERSIONED_FIELD, None)
    return shown


def _tool(attached: AttachedTool) -> ToolSnapshot:
    return ToolSnapshot.of(attached.attachment, name=attached.tool.name)


def _sub_agent(attached: AttachedAgent) -> SubAgentSnapshot:
    is_direct = attached.relation.relationship_type is RelationshipType.direct
    return SubAgentSnapshot.of(
        attached.relation,
        id=attached.agent.id,
        name=attached.agent.name,
        agent=DirectAgent.of(attached.agent) if is_direct else None,
    )
