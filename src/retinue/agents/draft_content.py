"""Content of a draft: a snapshot with the changes that a caller sends, checked like those of the agent."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import UNSET

from retinue.agents import overrides, web_search
from retinue.agents.draft_schemas import SnapshotChanges, SubAgentDraft, ToolDraft
from retinue.agents.errors import SubAgentCycle, SubAgentsTooDeep
from retinue.agents.graph import require_valid_edge
from retinue.agents.loaders import find_agent
from retinue.agents.models import Agent, RelationshipType, WebSearch
from retinue.agents.queries import load_delegation_edges
from retinue.agents.schemas import AgentChanges, DirectAgent, Snapshot, SubAgentSnapshot, ToolSnapshot
from retinue.agents.service import with_defaults
from retinue.agents.snapshots import web_search_snapshot
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.text.header_masks import restore_masked_headers
from retinue.tools.models import Tool

_ROOT = "snapshot"
_LISTED_TWICE = "is listed twice"
_MODEL_DEFAULTS: JsonObject = {
    field.name: field.default
    for field in msgspec.structs.fields(Agent)
    if field.name in {"temperature", "max_tokens"}
}


async def merge(ctx: Context, agent: Agent, current: Snapshot, changes: SnapshotChanges) -> Snapshot:
    """Return the snapshot with the fields that were sent; raise with the paths of those that are invalid."""
    with _at(_ROOT):
        sent = with_defaults(sent_fields(changes))
    merged: JsonObject = {name: sent[name] for name in AgentChanges.__struct_fields__ if name in sent}
    if changes.log_settings is not UNSET:
        merged["log_settings"] = msgspec.structs.replace(
            current.log_settings, **sent_fields(changes.log_settings)
        )
    if changes.web_search is not UNSET:
        merged["web_search"] = await _merge_web_search(
            ctx, current.web_search, sent_fields(changes.web_search)
        )
    if changes.tools is not UNSET:
        merged["tools"] = await _read_tools(ctx, current.tools, changes.tools)
    if changes.sub_agents is not UNSET:
        merged["sub_agents"] = await _read_sub_agents(ctx, agent, current.sub_agents, changes.sub_agents)
    return msgspec.structs.replace(current, **merged)


@contextmanager
def _at(path: str) -> Iterator[None]:
    """Name the place in the body in errors raised by the validator of one part."""
    try:
        yield
    except Invalid as invalid:
        raise Invalid(
            {f"{path}.{name}": problem for name, problem in (invalid.details or {}).items()}
        ) from None


async def _merge_web_search(ctx: Context, current: JsonObject, wanted: JsonObject) -> JsonObject:
    """Apply the settings that differ: one that is sent back needs no right to the credential it names."""
    changed = {name: value for name, value in wanted.items() if current.get(name) != value}
    with _at(f"{_ROOT}.web_search"):
        config = await web_search.apply_changes(ctx, msgspec.convert(current, WebSearch), changed)
    return web_search_snapshot(config)


async def _read_tools(
    ctx: Context, current: list[ToolSnapshot], wanted: list[ToolDraft]
) -> list[ToolSnapshot]:
    known = {one.tool_id: one for one in current}
    read: dict[str, ToolSnapshot] = {}
    for position, sent in enumerate(wanted):
        path = f"{_ROOT}.tools.{position}"
        if sent.tool_id in read:
            raise Invalid({f"{path}.tool_id": _LISTED_TWICE})
        read[sent.tool_id] = await _read_tool(ctx, path, known.get(sent.tool_id), sent, position)
    tools = list(read.values())
    if _without_names(tools) != _without_names(current):
        ctx.principal.require("tools:write")
    return tools


def _without_names(tools: list[ToolSnapshot]) -> list[ToolSnapshot]:
    return [msgspec.structs.replace(one, name="") for one in tools]


async def _read_tool(
    ctx: Context, path: str, known: ToolSnapshot | None, sent: ToolDraft, position: int
) -> ToolSnapshot:
    tool = await ctx.db.get(Tool, sent.tool_id)
    override = sent.config_override
    if known is not None:
        override = restore_masked_headers(override, known.config_override)
    read = ToolSnapshot(
        tool_id=sent.tool_id,
        name=tool.name if tool is not None else "",
        is_enabled=sent.is_enabled,
        display_order=position if sent.display_order is None else sent.display_order,
        config_override=override,
        requires_approval=sent.requires_approval,
        always_offered=sent.always_offered,
    )
    if tool is None:
        # A tool that was deleted meanwhile may be sent back; publishing names it in a warning.
        if known is None or _without_names([read]) != _without_names([known]):
            raise Invalid({f"{path}.tool_id": "there is no such tool"})
        return known
    with _at(path):
        overrides.check(ctx, tool, override)
    return read


async def _read_sub_agents(
    ctx: Context, agent: Agent, current: list[SubAgentSnapshot], wanted: list[SubAgentDraft]
) -> list[SubAgentSnapshot]:
    known = {one.id: one for one in current}
    edges = await load_delegation_edges(ctx)
    read: dict[str, SubAgentSnapshot] = {}
    for position, sent in enumerate(wanted):
        path = f"{_ROOT}.sub_agents.{position}"
        before = known.get(sent.id or "")
        one = (
            await _read_direct(ctx, path, agent, before, sent)
            if sent.relationship_type is RelationshipType.direct
            else await _read_template(ctx, path, before, sent)
        )
        if one.id in read:
            raise Invalid({f"{path}.id": _LISTED_TWICE})
        try:
            require_valid_edge(edges, agent.id, one.id)
        except (SubAgentCycle, SubAgentsTooDeep) as error:
            raise Invalid({f"{path}.id": error.message}) from None
        read[one.id] = one
    return list(read.values())


async def _read_template(
    ctx: Context, path: str, known: SubAgentSnapshot | None, sent: SubAgentDraft
) -> SubAgentSnapshot:
    child = await find_agent(ctx, sent.id) if sent.id else None
    if child is None and (known is None or known.relationship_type is not RelationshipType.template):
        raise Invalid({f"{path}.id": "there is no such agent"})
    return SubAgentSnapshot(
        id=sent.id or "",
        name=child.name if child is not None else known.name if known is not None else "",
        relationship_type=RelationshipType.template,
        is_enabled=sent.is_enabled,
        delegation_prompt=sent.delegation_prompt or "",
    )


async def _read_direct(
    ctx: Context, path: str, agent: Agent, known: SubAgentSnapshot | None, sent: SubAgentDraft
) -> SubAgentSnapshot:
    stored = await ctx.db.get(Agent, sent.id) if sent.id else None
    if stored is not None and stored.parent_id == agent.id:
        id, before = stored.id, DirectAgent.of(stored)
    elif known is not None and known.agent is not None:
        id, before = known.id, known.agent
    else:
        id, before = new_id(Agent.__prefix__), None
    with _at(f"{path}.agent"):
        fields = with_defaults(sent_fields(sent.agent)) if sent.agent is not None else {}
    base = known.agent if known is not None and known.agent is not None else before
    if base is None and sent.agent is None:
        raise Invalid({f"{path}.agent": "is required for a new direct sub-agent"})
    configuration = (
        msgspec.structs.replace(base, **fields)
        if base is not None
        else DirectAgent(**{**_MODEL_DEFAULTS, **fields})
    )
    return SubAgentSnapshot(
        id=id,
        name=configuration.name,
        relationship_type=RelationshipType.direct,
        is_enabled=sent.is_enabled,
        delegation_prompt=sent.delegation_prompt or "",
        agent=configuration,
    )
