"""Agents with their tools and sub-agents."""

import msgspec

from retinue.agents import service
from retinue.agents.models import Agent, AgentStatus, RelationshipType
from retinue.agents.queries import load_sub_agents, load_tools
from retinue.agents.schemas import AgentCreate
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import mask_config_headers
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.parts import (
    AgentPart,
    AttachedPart,
    LogPart,
    ModelPart,
    SubAgentPart,
    WebSearchPart,
)
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections import agent_content
from retinue.tenant_file.sections.base import FileSection, fill_part, own_name, shown_name, wanted_name


async def load(ctx: Context) -> list[Agent]:
    """Return all agents but direct sub-agents, which belong to their parents."""
    found = await ctx.db.all(Agent, order_by=("created_at", "id"))
    return [agent for agent in found if agent.parent_id is None]


async def _export(ctx: Context, names: ReferenceIndex, agent: Agent) -> AgentPart:
    credential_id = names.to_references(agent.web_search.credential_id)
    part: AgentPart = fill_part(
        AgentPart,
        agent,
        name=shown_name(names, agent),
        timeouts=_timeouts(agent),
        web_search=fill_part(WebSearchPart, agent.web_search, credential_id=credential_id),
        log_settings=fill_part(LogPart, agent.log_settings),
        tools=await _export_tools(ctx, names, agent),
        sub_agents=await _export_sub_agents(ctx, names, agent),
    )
    return part


def _timeouts(agent: Agent) -> JsonObject:
    timeouts: JsonObject = msgspec.to_builtins(agent.timeouts)
    return {name: value for name, value in timeouts.items() if value is not None}


async def _export_tools(ctx: Context, names: ReferenceIndex, agent: Agent) -> list[AttachedPart]:
    parts = []
    for attached in await load_tools(ctx, agent):
        override = mask_config_headers(ctx.principal, attached.attachment.config_override, "tools:write")
        parts.append(
            fill_part(
                AttachedPart,
                attached.attachment,
                tool=names.to_references(attached.tool.id),
                config_override=names.to_references(override),
            )
        )
    return sorted(parts, key=lambda part: (part.display_order, part.tool))


async def _export_sub_agents(ctx: Context, names: ReferenceIndex, agent: Agent) -> list[SubAgentPart]:
    parts = []
    for child in await load_sub_agents(ctx, agent):
        is_direct = child.relation.relationship_type is RelationshipType.direct
        model = fill_part(ModelPart, child.agent, timeouts=_timeouts(child.agent))
        parts.append(
            fill_part(
                SubAgentPart,
                child.relation,
                agent=None if is_direct else names.to_references(child.agent.id),
                name=child.agent.name if is_direct else None,
                direct=model if is_direct else None,
            )
        )
    return parts


async def _create(ctx: Context, _names: ReferenceIndex, change: PlannedChange) -> Agent:
    part = change.part
    fields = {name: getattr(part, name) for name in ModelPart.__struct_fields__}
    return await service.create(ctx, convert_values(AgentCreate, {**fields, "name": wanted_name(change)}))


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, agent: Agent) -> None:
    if agent.name != wanted_name(change):
        await service.update(ctx, agent, agent_content.renamed(wanted_name(change)))
    await agent_content.apply_content(ctx, names, agent, change.part)
    locked = await service.lock_agent(ctx, agent.id)
    wanted = convert_values(AgentStatus, change.part.status, "status")
    if locked.status is AgentStatus.archived and wanted is AgentStatus.published:
        locked = await service.change(ctx, locked, status=AgentStatus.draft)
    await service.change(ctx, locked, status=wanted)


SECTION = FileSection(
    name="agents",
    write_key="agents:write",
    delete_key="agents:delete",
    load=load,
    natural_name=own_name,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    is_filled_later=True,
)
