"""What an agent is made of, and what it may use."""

from typing import Any

import msgspec

from retinue.agents import attachments, service, sub_agents, web_search
from retinue.agents.models import Agent, LogSettings, RelationshipType
from retinue.agents.queries import sub_agents_of, tools_of
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
from retinue.cli.tenant_file.document import AgentPart, ModelPart, SubAgentPart
from retinue.cli.tenant_file.references import Names
from retinue.kit.context import Context
from retinue.kit.errors import Invalid

_MODEL = ModelPart.__struct_fields__


async def fill(ctx: Context, names: Names, agent: Agent, part: AgentPart) -> None:
    fields = {name: getattr(part, name) for name in _MODEL}
    await service.update(ctx, agent, _read(AgentUpdate, fields))
    search = names.resolved(msgspec.structs.asdict(part.web_search), "web_search")
    held = await service.hold(ctx, agent.id)
    current = msgspec.to_builtins(held.web_search)
    if any(current[name] != value for name, value in search.items()):
        await web_search.update(ctx, held, _read(WebSearchUpdate, search))
    logs = _read(LogSettings, msgspec.structs.asdict(part.log_settings))
    await service.change(ctx, await service.hold(ctx, agent.id), log_settings=logs)
    await _fill_tools(ctx, names, agent, part)
    await _fill_sub_agents(ctx, names, agent, part)


def _read(shape: type[Any], values: dict[str, Any]) -> Any:
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise Invalid({"": str(error)}) from None


async def _fill_tools(ctx: Context, names: Names, agent: Agent, part: AgentPart) -> None:
    attached = {one.tool.id: one for one in await tools_of(ctx, agent)}
    for position, wanted in enumerate(part.tools):
        tool_id = names.resolved(wanted.tool, f"tools.{position}.tool")
        fields = {
            "is_enabled": wanted.is_enabled,
            "display_order": wanted.display_order,
            "config_override": names.resolved(wanted.config_override, f"tools.{position}.config_override"),
            "requires_approval": wanted.requires_approval,
        }
        known = attached.pop(tool_id, None)
        if known is None:
            await attachments.attach(ctx, agent, _read(Attach, {"tool_id": tool_id, **fields}))
            continue
        changed = {name: value for name, value in fields.items() if getattr(known.attachment, name) != value}
        if changed:
            await attachments.update(ctx, agent, known.tool, _read(AttachmentUpdate, changed))
    for left in attached.values():
        await attachments.detach(ctx, agent, left.tool)


async def _fill_sub_agents(ctx: Context, names: Names, agent: Agent, part: AgentPart) -> None:
    found = await sub_agents_of(ctx, agent)
    direct = RelationshipType.direct
    known = {
        one.agent.name if one.relation.relationship_type is direct else one.agent.id: one.agent.id
        for one in found
    }
    for position, wanted in enumerate(part.sub_agents):
        place = f"sub_agents.{position}"
        _check(wanted, place)
        relation = {"delegation_prompt": wanted.delegation_prompt, "is_enabled": wanted.is_enabled}
        if wanted.direct is not None:
            fields = {"name": wanted.name, **msgspec.structs.asdict(wanted.direct), **relation}
            child_id = known.pop(str(wanted.name), None)
            if child_id is None:
                await sub_agents.create_direct(ctx, agent, _read(DirectCreate, fields))
            else:
                await sub_agents.update_direct(ctx, agent, child_id, _read(DirectUpdate, fields))
            continue
        other_id = names.resolved(wanted.agent, f"{place}.agent")
        if known.pop(other_id, None) is None:
            await sub_agents.attach(ctx, agent, _read(SubAgentAttach, {"agent_id": other_id, **relation}))
        else:
            await sub_agents.patch(ctx, agent, other_id, _read(SubAgentPatch, relation))
    for child_id in known.values():
        await sub_agents.detach(ctx, agent, child_id)


def _check(wanted: SubAgentPart, place: str) -> None:
    if (wanted.agent is None) == (wanted.direct is None) or (wanted.direct is not None and not wanted.name):
        raise Invalid({place: "give agent, or name and direct"})
