"""The versions of an agent: read, compared and brought back as a whole."""

from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.agents import attachments, sub_agents
from retinue.agents.errors import SubAgentCycle, SubAgentsTooDeep, VersionNotFound
from retinue.agents.graph import check_edge
from retinue.agents.loaders import find_agent
from retinue.agents.models import Agent, AgentTool, AgentVersion, RelationshipType, SubAgent, WebSearch
from retinue.agents.queries import edges, hold_graph, sub_agents_of, tools_of
from retinue.agents.schemas import (
    Difference,
    DirectAgent,
    Snapshot,
    SubAgentSnapshot,
    ToolSnapshot,
    VersionOut,
    VersionSummary,
)
from retinue.agents.service import change, hold
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tools.models import Tool

_BY_ID = {"tools": "tool_id", "sub_agents": "id"}
_ABSENT: Any = object()


class Restored(msgspec.Struct, frozen=True):
    agent: Agent
    warnings: list[str]


def summed_up(version: AgentVersion) -> VersionSummary:
    return VersionSummary.of(version, published=version.is_published)


def shown(version: AgentVersion) -> VersionOut:
    return VersionOut.of(version, published=version.is_published, snapshot=_snapshot(version))


def _snapshot(version: AgentVersion) -> Snapshot:
    return msgspec.convert(version.snapshot, Snapshot)


async def fetch(ctx: Context, agent: Agent, number: str | int) -> AgentVersion:
    written = str(number)
    is_number = written.isascii() and written.isdigit() and len(written) <= 15
    found = await ctx.db.find(AgentVersion, agent_id=agent.id, version=int(written)) if is_number else None
    if found is None:
        raise VersionNotFound
    return found


async def compare(ctx: Context, agent: Agent, version: AgentVersion, against: int | None) -> list[Difference]:
    """What is different in a version from another one, or from the one before it."""
    before = max(1, version.version - 1) if against is None else against
    other = await fetch(ctx, agent, before)
    return list(_differences("", _keyed(other.snapshot), _keyed(version.snapshot)))


def _keyed(snapshot: dict[str, Any]) -> dict[str, Any]:
    """What is attached is compared by what it is, not by where it stands in the list."""
    lists = {name: {item[key]: item for item in snapshot[name]} for name, key in _BY_ID.items()}
    return {**snapshot, **lists}


def _differences(path: str, before: Any, after: Any) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inner = f"{path}.{name}" if path else name
            yield from _differences(inner, before.get(name, _ABSENT), after.get(name, _ABSENT))
    elif before != after:
        yield Difference(path=path, from_=_value(before), to=_value(after))


def _value(value: Any) -> Any:
    return None if value is _ABSENT else value


async def restore(ctx: Context, agent: Agent, version: AgentVersion) -> Restored:
    """Make the agent what it was, but for its status; what is no longer there is left out and named."""
    snapshot = _snapshot(version)
    await hold_graph(ctx)
    # By their ids, as everyone who holds several tools does.
    tools = {id: await ctx.db.lock(Tool, id) for id in sorted(one.tool_id for one in snapshot.tools)}
    held = await hold(ctx, agent.id)
    warnings = [
        *await _restore_tools(ctx, held, [(one, tools[one.tool_id]) for one in snapshot.tools]),
        *await _restore_sub_agents(ctx, held, snapshot.sub_agents),
    ]
    changed = await change(
        ctx,
        held,
        **{name: getattr(snapshot, name) for name in DirectAgent.__struct_fields__},
        web_search=_web_search(held.web_search, snapshot.web_search),
        log_settings=snapshot.log_settings,
        tool_count=await ctx.db.count(AgentTool, agent_id=held.id),
        sub_agent_count=await ctx.db.count(SubAgent, parent_id=held.id),
        touched=("tools", "sub_agents"),
        summary=f"Restored version {version.version}.",
    )
    return Restored(changed, warnings)


def _web_search(current: WebSearch, kept: dict[str, Any]) -> WebSearch:
    """The credential goes where it may go today; an older version opens no way that was closed since."""
    restored = msgspec.convert(kept, WebSearch)
    is_same = restored.credential_id == current.credential_id
    return msgspec.structs.replace(
        restored, credential_destination=current.credential_destination if is_same else ""
    )


async def _restore_tools(
    ctx: Context, held: Agent, wanted: list[tuple[ToolSnapshot, Tool | None]]
) -> list[str]:
    attached = {one.tool.id: one.attachment for one in await tools_of(ctx, held)}
    warnings = []
    for kept, tool in wanted:
        if tool is None:
            warnings.append(f"Tool {kept.name} ({kept.tool_id}) no longer exists.")
            continue
        attachment = attached.pop(tool.id, None) or await ctx.db.insert(
            AgentTool(agent_id=held.id, tool_id=tool.id, attached_by=ctx.principal.id)
        )
        plain = {
            "is_enabled": kept.is_enabled,
            "display_order": kept.display_order,
            "requires_approval": kept.requires_approval,
        }
        try:
            await attachments.store(ctx, attachment, tool, {**plain, "config_override": kept.config_override})
        except Invalid:
            await attachments.store(ctx, attachment, tool, {**plain, "config_override": None})
            warnings.append(f"The override of tool {tool.name} ({tool.id}) no longer fits its configuration.")
    for extra in attached.values():
        await ctx.db.delete(extra)
    return warnings


async def _restore_sub_agents(ctx: Context, held: Agent, wanted: list[SubAgentSnapshot]) -> list[str]:
    found = {one.agent.id: one for one in await sub_agents_of(ctx, held)}
    kept_ids = {kept.id for kept in wanted}
    for id, extra in found.items():
        if id not in kept_ids:
            await sub_agents.discard(ctx, extra)
    warnings = []
    for kept in wanted:
        relation = {"is_enabled": kept.is_enabled, "delegation_prompt": kept.delegation_prompt}
        fields = msgspec.structs.asdict(kept.agent) if kept.agent else {}
        if kept.id in found:
            await sub_agents.store(ctx, found[kept.id], {**relation, **fields})
        elif problem := await _attach_again(ctx, held, kept, fields, relation):
            warnings.append(f"Sub-agent {kept.name} ({kept.id}) {problem}.")
    return warnings


async def _attach_again(
    ctx: Context, held: Agent, kept: SubAgentSnapshot, fields: dict[str, Any], relation: dict[str, Any]
) -> str:
    """Why a sub-agent of the version cannot be one again, or nothing."""
    try:
        check_edge(await edges(ctx), held.id, kept.id)
    except SubAgentCycle:
        return "delegates to this agent now"
    except SubAgentsTooDeep:
        return "would make the chain of delegation too long"
    if kept.relationship_type is RelationshipType.direct:
        await sub_agents.add_direct(ctx, held, kept.id, fields, relation)
        return ""
    if await find_agent(ctx, kept.id) is None:
        return "no longer exists"
    await ctx.db.insert(
        SubAgent(
            parent_id=held.id,
            child_id=kept.id,
            relationship_type=RelationshipType.template,
            **relation,
        )
    )
    return ""
