"""Applies an agent's settings, tools and sub-agents."""

import msgspec

from retinue.agents import attachments, service, sub_agents, web_search
from retinue.agents.models import Agent, LogSettings, RelationshipType
from retinue.agents.queries import load_sub_agents, load_tools
from retinue.agents.schemas import (
    AgentUpdate,
    Attach,
    AttachmentUpdate,
    DirectCreate,
    DirectUpdate,
    SubAgentAttach,
    SubAgentPatch,
)
from retinue.agents.web_search import WebSearchUpdate
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.parts import AgentPart, ModelPart, SubAgentPart
from retinue.tenant_file.references import ReferenceIndex

_ATTACH = "tools:write"
_MODEL = ModelPart.__struct_fields__


def renamed(name: str) -> AgentUpdate:
    body: AgentUpdate = convert_values(AgentUpdate, {"name": name})
    return body


async def apply_content(ctx: Context, names: ReferenceIndex, agent: Agent, part: AgentPart) -> None:
    fields = {name: getattr(part, name) for name in _MODEL}
    await service.update(ctx, agent, convert_values(AgentUpdate, fields))
    search = names.to_ids(msgspec.structs.asdict(part.web_search), "web_search")
    locked = await service.lock_agent(ctx, agent.id)
    current = msgspec.to_builtins(locked.web_search)
    if any(current[name] != value for name, value in search.items()):
        await web_search.update(ctx, locked, convert_values(WebSearchUpdate, search))
    logs = convert_values(LogSettings, msgspec.structs.asdict(part.log_settings))
    await service.change(ctx, await service.lock_agent(ctx, agent.id), log_settings=logs)
    await _fill_tools(ctx, names, agent, part)
    await _fill_sub_agents(ctx, names, agent, part)


async def _fill_tools(ctx: Context, names: ReferenceIndex, agent: Agent, part: AgentPart) -> None:
    remaining = {attached_tool.tool.id: attached_tool for attached_tool in await load_tools(ctx, agent)}
    for position, wanted in enumerate(part.tools):
        tool_id = names.to_ids(wanted.tool, f"tools.{position}.tool")
        fields = {
            "is_enabled": wanted.is_enabled,
            "display_order": wanted.display_order,
            "config_override": names.to_ids(wanted.config_override, f"tools.{position}.config_override"),
            "requires_approval": wanted.requires_approval,
            "always_offered": wanted.always_offered,
        }
        existing = remaining.pop(tool_id, None)
        if existing is None:
            ctx.principal.require(_ATTACH)
            await attachments.attach(ctx, agent, convert_values(Attach, {"tool_id": tool_id, **fields}))
            continue
        changed = {
            name: value for name, value in fields.items() if getattr(existing.attachment, name) != value
        }
        if changed:
            ctx.principal.require(_ATTACH)
            await attachments.update(ctx, agent, existing.tool, convert_values(AttachmentUpdate, changed))
    for detached in remaining.values():
        ctx.principal.require(_ATTACH)
        await attachments.detach(ctx, agent, detached.tool)


async def _fill_sub_agents(ctx: Context, names: ReferenceIndex, agent: Agent, part: AgentPart) -> None:
    children = await load_sub_agents(ctx, agent)
    direct = RelationshipType.direct
    remaining: dict[str, list[str]] = {}
    for child in children:
        key = child.agent.name if child.relation.relationship_type is direct else child.agent.id
        remaining.setdefault(key, []).append(child.agent.id)
    order: list[str] = []
    for position, wanted in enumerate(part.sub_agents):
        place = f"sub_agents.{position}"
        _check(wanted, place)
        relation = {"delegation_prompt": wanted.delegation_prompt, "is_enabled": wanted.is_enabled}
        if wanted.direct is not None:
            fields = {"name": wanted.name, **msgspec.structs.asdict(wanted.direct), **relation}
            same_name = remaining.get(str(wanted.name))
            child_id = same_name.pop(0) if same_name else None
            if child_id is None:
                created = await sub_agents.create_direct(ctx, agent, convert_values(DirectCreate, fields))
                child_id = created.agent.id
            else:
                await sub_agents.update_direct(ctx, agent, child_id, convert_values(DirectUpdate, fields))
            order.append(child_id)
            continue
        other_id = names.to_ids(wanted.agent, f"{place}.agent")
        order.append(other_id)
        if not remaining.pop(other_id, None):
            await sub_agents.attach(
                ctx, agent, convert_values(SubAgentAttach, {"agent_id": other_id, **relation})
            )
        else:
            await sub_agents.patch(ctx, agent, other_id, convert_values(SubAgentPatch, relation))
    for ids in remaining.values():
        for child_id in ids:
            await sub_agents.detach(ctx, agent, child_id)
    await sub_agents.reorder(ctx, agent, order)


def _check(part: SubAgentPart, place: str) -> None:
    if (part.agent is None) == (part.direct is None) or (part.direct is not None and not part.name):
        raise Invalid({place: "must have either agent, or name and direct"})
