"""Pinned configurations: a version or the draft of an agent, for turns that use it instead of the agent."""

from typing import Literal

import msgspec

from retinue.agents import drafts, versions
from retinue.agents.models import Agent, AgentStatus, AgentTool, RelationshipType, SubAgent
from retinue.agents.queries import AttachedAgent, AttachedTool, load_tools
from retinue.agents.schemas import DirectAgent, Snapshot, SubAgentSnapshot, ToolSnapshot
from retinue.agents.sub_agents import build_direct
from retinue.kit.context import Context
from retinue.tools.models import Tool


class PinnedConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of an agent; `version` is its number, or the one that the draft is based on.

    Stored in the database with suspended turns: a new field needs a default.
    """

    version: int
    snapshot: Snapshot


async def load(
    ctx: Context, agent: Agent, version: int | Literal["draft"], model: str | None
) -> PinnedConfiguration:
    """Return the version or the draft, with another model if one is named."""
    if version == drafts.DRAFT:
        draft = await drafts.load(ctx, agent)
        number, snapshot = draft.based_on, draft.snapshot
    else:
        stored = await versions.fetch(ctx, agent, version)
        number, snapshot = stored.version, versions.to_snapshot(stored.snapshot)
    if model is not None:
        snapshot = msgspec.structs.replace(snapshot, primary_model=model, fallback_models=[])
    return PinnedConfiguration(version=number, snapshot=snapshot)


def configured(agent: Agent, pinned: PinnedConfiguration) -> Agent:
    """Return the agent as the snapshot describes it; status and documents are those of today."""
    snapshot = pinned.snapshot
    return msgspec.structs.replace(
        agent,
        **{name: getattr(snapshot, name) for name in DirectAgent.__struct_fields__},
        version=pinned.version,
        web_search=versions.restored_web_search(agent.web_search, snapshot.web_search),
        log_settings=snapshot.log_settings,
        tool_count=len(snapshot.tools),
        sub_agent_count=len(snapshot.sub_agents),
    )


async def load_pinned_tools(ctx: Context, agent: Agent, snapshot: Snapshot) -> list[AttachedTool]:
    """Return the tools of the snapshot that can be used today, in order.

    ADR 8: an override sends secrets only where the attachment in use may. A tool that needs approval there
    needs it here.
    """
    stored = await ctx.db.get(Agent, agent.id)
    in_use = {one.tool.id: one.attachment for one in await load_tools(ctx, stored)} if stored else {}
    attached = []
    for kept in sorted(snapshot.tools, key=lambda one: one.display_order):
        tool = await ctx.db.get(Tool, kept.tool_id) if kept.is_enabled else None
        if tool is not None and tool.is_enabled:
            attached.append(AttachedTool(_attachment(agent, kept, in_use.get(tool.id)), tool))
    return attached


def _attachment(agent: Agent, kept: ToolSnapshot, in_use: AgentTool | None) -> AgentTool:
    return AgentTool(
        agent_id=agent.id,
        tool_id=kept.tool_id,
        display_order=kept.display_order,
        config_override=kept.config_override,
        override_destination=in_use.override_destination if in_use is not None else "",
        requires_approval=kept.requires_approval or (in_use is not None and in_use.requires_approval),
        always_offered=kept.always_offered,
    )


async def load_pinned_sub_agents(ctx: Context, agent: Agent, snapshot: Snapshot) -> list[AttachedAgent]:
    """Return the sub-agents of the snapshot that can be used today; templates are as they are today."""
    attached = []
    for kept in snapshot.sub_agents:
        child = await _find_child(ctx, agent, kept) if kept.is_enabled else None
        if child is not None and child.status is not AgentStatus.archived:
            relation = SubAgent(
                parent_id=agent.id,
                child_id=child.id,
                relationship_type=kept.relationship_type,
                delegation_prompt=kept.delegation_prompt,
            )
            attached.append(AttachedAgent(relation, child))
    return attached


async def _find_child(ctx: Context, agent: Agent, kept: SubAgentSnapshot) -> Agent | None:
    stored = await ctx.db.get(Agent, kept.id)
    if kept.relationship_type is RelationshipType.template:
        return stored if stored is not None and stored.parent_id is None else None
    if kept.agent is None:
        return None
    fields = msgspec.structs.asdict(kept.agent)
    if stored is not None and stored.parent_id == agent.id:
        return msgspec.structs.replace(stored, **fields)
    # It is new in the draft, or was deleted since: it lasts for this turn.
    return build_direct(agent, kept.id, fields, created_by=agent.created_by)
