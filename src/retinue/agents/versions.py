"""Versions of an agent: read, compare and restore."""

from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.agents import attachments, sub_agents
from retinue.agents.errors import SubAgentCycle, SubAgentsTooDeep, VersionNotFound
from retinue.agents.graph import require_valid_edge
from retinue.agents.loaders import find_agent
from retinue.agents.models import Agent, AgentTool, AgentVersion, RelationshipType, SubAgent, WebSearch
from retinue.agents.queries import load_delegation_edges, load_sub_agents, load_tools, lock_agent_graph
from retinue.agents.schemas import (
    Difference,
    DirectAgent,
    Snapshot,
    SubAgentSnapshot,
    ToolSnapshot,
    VersionOut,
    VersionSummary,
)
from retinue.agents.service import change, lock_agent
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import mask_config_headers
from retinue.tools.models import Tool

_ID_FIELDS = {"tools": "tool_id", "sub_agents": "id"}
_ABSENT: Any = object()


class RestoreResult(msgspec.Struct, frozen=True):
    agent: Agent
    warnings: list[str]


def summarize(version: AgentVersion) -> VersionSummary:
    return VersionSummary.of(version, published=version.is_published)


def render_version(ctx: Context, version: AgentVersion) -> VersionOut:
    snapshot = shown_snapshot(ctx, version.snapshot)
    return VersionOut.of(version, published=version.is_published, snapshot=snapshot)


def shown_snapshot(ctx: Context, stored: JsonObject) -> Snapshot:
    return to_snapshot(mask_config_headers(ctx.principal, stored, "tools:write"))


def to_snapshot(stored: JsonObject) -> Snapshot:
    return msgspec.convert(stored, Snapshot)


async def fetch(ctx: Context, agent: Agent, number: str | int) -> AgentVersion:
    digits = str(number)
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 15
    version = await ctx.db.find(AgentVersion, agent_id=agent.id, version=int(digits)) if is_number else None
    if version is None:
        raise VersionNotFound
    return version


def compare(ctx: Context, before: JsonObject, after: JsonObject) -> list[Difference]:
    """Return the differences between two snapshots, as the caller may see them."""
    shown = (mask_config_headers(ctx.principal, each, "tools:write") for each in (before, after))
    return list(differences(*shown))


def differences(before: JsonObject, after: JsonObject) -> Iterator[Difference]:
    yield from _differences("", _index_by_id(before), _index_by_id(after))
    yield from _differences(
        "sub_agents.order", _sub_agents_kept(before, after), _sub_agents_kept(after, before)
    )


def _index_by_id(snapshot: JsonObject) -> JsonObject:
    """Return the snapshot with its lists keyed by id, so that one more does not change those after it."""
    lists = {name: {item[key]: item for item in snapshot[name]} for name, key in _ID_FIELDS.items()}
    return {**snapshot, **lists}


def _sub_agents_kept(snapshot: JsonObject, other: JsonObject) -> list[str]:
    """Return, in order, the sub-agents that both snapshots have; tools carry their order as a field."""
    others = {each["id"] for each in other["sub_agents"]}
    return [each["id"] for each in snapshot["sub_agents"] if each["id"] in others]


def _differences(path: str, before: object, after: object) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inner = f"{path}.{name}" if path else name
            yield from _differences(inner, before.get(name, _ABSENT), after.get(name, _ABSENT))
    elif before != after:
        yield Difference(path=path, from_=_value(before), to=_value(after))


def _value(value: object) -> Any:
    return None if value is _ABSENT else value


async def restore(ctx: Context, agent: Agent, version: AgentVersion) -> RestoreResult:
    """Restore the agent except for its status; what no longer exists is skipped and named in warnings."""
    return await apply_snapshot(
        ctx, agent, to_snapshot(version.snapshot), summary=f"Restored version {version.version}."
    )


async def apply_snapshot(
    ctx: Context, agent: Agent, snapshot: Snapshot, *, summary: str, is_publication: bool = False
) -> RestoreResult:
    """Make the agent what the snapshot says, in one new version; only a publication changes its status."""
    await lock_agent_graph(ctx)
    # Lock tools in the order of their ids, as everywhere, to avoid deadlocks.
    tools = {id: await ctx.db.lock(Tool, id) for id in sorted(one.tool_id for one in snapshot.tools)}
    locked = await lock_agent(ctx, agent.id)
    warnings = [
        *await _restore_tools(ctx, locked, [(one, tools[one.tool_id]) for one in snapshot.tools]),
        *await _restore_sub_agents(ctx, locked, snapshot.sub_agents),
    ]
    changed = await change(
        ctx,
        locked,
        **{name: getattr(snapshot, name) for name in DirectAgent.__struct_fields__},
        web_search=restored_web_search(locked.web_search, snapshot.web_search),
        log_settings=snapshot.log_settings,
        tool_count=await ctx.db.count(AgentTool, agent_id=locked.id),
        sub_agent_count=await ctx.db.count(SubAgent, parent_id=locked.id),
        touched=("tools", "sub_agents"),
        summary=summary,
        is_publication=is_publication,
    )
    return RestoreResult(changed, warnings)


def restored_web_search(current: WebSearch, kept: JsonObject) -> WebSearch:
    """Return the restored settings; the credential's destination stays what is allowed today (ADR 8)."""
    restored = msgspec.convert(kept, WebSearch)
    is_same = restored.credential_id == current.credential_id
    return msgspec.structs.replace(
        restored, credential_destination=current.credential_destination if is_same else ""
    )


async def _restore_tools(
    ctx: Context, locked: Agent, wanted: list[tuple[ToolSnapshot, Tool | None]]
) -> list[str]:
    attached = {one.tool.id: one.attachment for one in await load_tools(ctx, locked)}
    warnings = []
    for kept, tool in wanted:
        if tool is None:
            warnings.append(f"Tool {kept.name} ({kept.tool_id}) no longer exists.")
            continue
        attachment = attached.pop(tool.id, None) or await ctx.db.insert(
            AgentTool(agent_id=locked.id, tool_id=tool.id, attached_by=ctx.principal.id)
        )
        plain = {
            "is_enabled": kept.is_enabled,
            "display_order": kept.display_order,
            "requires_approval": kept.requires_approval,
            "always_offered": kept.always_offered,
        }
        try:
            await attachments.store(ctx, attachment, tool, {**plain, "config_override": kept.config_override})
        except Invalid:
            await attachments.store(ctx, attachment, tool, {**plain, "config_override": None})
            warnings.append(f"The override of tool {tool.name} ({tool.id}) no longer fits its configuration.")
    for extra in attached.values():
        await ctx.db.delete(extra)
    return warnings


async def _restore_sub_agents(ctx: Context, locked: Agent, wanted: list[SubAgentSnapshot]) -> list[str]:
    current = {one.agent.id: one for one in await load_sub_agents(ctx, locked)}
    kept_ids = {kept.id for kept in wanted}
    for id, extra in current.items():
        if id not in kept_ids:
            await sub_agents.detach_or_delete(ctx, extra)
    warnings = []
    for position, kept in enumerate(wanted):
        relation = {
            "is_enabled": kept.is_enabled,
            "delegation_prompt": kept.delegation_prompt,
            "display_order": position,
        }
        fields = msgspec.structs.asdict(kept.agent) if kept.agent else {}
        if kept.id in current:
            await sub_agents.store(ctx, current[kept.id], {**relation, **fields})
        elif problem := await _reattach_sub_agent(ctx, locked, kept, fields, relation):
            warnings.append(f"Sub-agent {kept.name} ({kept.id}) {problem}.")
    return warnings


async def _reattach_sub_agent(
    ctx: Context, locked: Agent, kept: SubAgentSnapshot, fields: JsonObject, relation: JsonObject
) -> str:
    """Reattach a sub-agent; return why that is not possible, or an empty string."""
    try:
        require_valid_edge(await load_delegation_edges(ctx), locked.id, kept.id)
    except SubAgentCycle:
        return "now delegates to this agent"
    except SubAgentsTooDeep:
        return "would make the chain of delegation too long"
    if kept.relationship_type is RelationshipType.direct:
        await sub_agents.add_direct(ctx, locked, kept.id, fields, relation)
        return ""
    if await find_agent(ctx, kept.id) is None:
        return "no longer exists"
    await ctx.db.insert(
        SubAgent(
            parent_id=locked.id,
            child_id=kept.id,
            relationship_type=RelationshipType.template,
            **relation,
        )
    )
    return ""
