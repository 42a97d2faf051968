"""Agents that an agent may hand tasks to: others of the tenant (templates), or made for it (direct)."""

from typing import Any

from retinue.agents.errors import (
    AlreadyAttached,
    NotADirectSubAgent,
    SubAgentNotFound,
    TooManyAttached,
)
from retinue.agents.graph import check_edge
from retinue.agents.loaders import fetch_agent
from retinue.agents.models import Agent, LogSettings, RelationshipType, SubAgent, WebSearch
from retinue.agents.queries import AttachedAgent, edges, hold_graph
from retinue.agents.schemas import (
    DirectAgent,
    DirectCreate,
    DirectUpdate,
    SubAgentAttach,
    SubAgentOut,
    SubAgentPatch,
)
from retinue.agents.service import change, hold, remove, with_defaults
from retinue.kit.context import Context
from retinue.kit.ids import new_id
from retinue.kit.schemas import given

MOST_SUB_AGENTS = 50
_OF_AGENT = frozenset(DirectAgent.__struct_fields__)


def shown(one: AttachedAgent) -> SubAgentOut:
    relation, agent = one.relation, one.agent
    more: dict[str, Any] = {}
    if relation.relationship_type is RelationshipType.direct:
        more = {name: getattr(agent, name) for name in _OF_AGENT}
    return SubAgentOut(
        id=agent.id,
        relationship_type=relation.relationship_type,
        is_enabled=relation.is_enabled,
        delegation_prompt=relation.delegation_prompt,
        **{"name": agent.name, **more},
    )


async def attach(ctx: Context, agent: Agent, body: SubAgentAttach) -> AttachedAgent:
    await hold_graph(ctx)
    child = await fetch_agent(ctx, body.agent_id)
    held = await _hold_with_room(ctx, agent)
    if await ctx.db.find(SubAgent, parent_id=held.id, child_id=child.id):
        raise AlreadyAttached
    check_edge(await edges(ctx), held.id, child.id)
    relation = await ctx.db.insert(
        SubAgent(
            parent_id=held.id,
            child_id=child.id,
            relationship_type=RelationshipType.template,
            is_enabled=body.is_enabled is not False,
            delegation_prompt=body.delegation_prompt or "",
        )
    )
    await _count(ctx, held, 1, f"Attached sub-agent {child.name}.")
    return AttachedAgent(relation, child)


async def create_direct(ctx: Context, agent: Agent, body: DirectCreate) -> AttachedAgent:
    await hold_graph(ctx)
    held = await _hold_with_room(ctx, agent)
    id = new_id(Agent.__prefix__)
    check_edge(await edges(ctx), held.id, id)
    fields = with_defaults({name: getattr(body, name) for name in _OF_AGENT})
    relation = {"is_enabled": body.is_enabled is not False, "delegation_prompt": body.delegation_prompt or ""}
    made = await add_direct(ctx, held, id, fields, relation)
    await _count(ctx, held, 1, f"Created sub-agent {body.name}.")
    return made


async def add_direct(
    ctx: Context, parent: Agent, id: str, fields: dict[str, Any], relation: dict[str, Any]
) -> AttachedAgent:
    """Store a direct sub-agent below its parent, which counts it."""
    child = await ctx.db.insert(
        Agent(
            id=id,
            **fields,
            web_search=WebSearch(),
            log_settings=LogSettings(),
            parent_id=parent.id,
            created_by=ctx.principal.id,
        )
    )
    related = await ctx.db.insert(
        SubAgent(parent_id=parent.id, child_id=id, relationship_type=RelationshipType.direct, **relation)
    )
    return AttachedAgent(related, child)


async def patch(ctx: Context, agent: Agent, child_id: str, body: SubAgentPatch) -> AttachedAgent:
    held = await hold(ctx, agent.id)
    return await _store(ctx, held, await fetch(ctx, held, child_id), given(body))


async def update_direct(ctx: Context, agent: Agent, child_id: str, body: DirectUpdate) -> AttachedAgent:
    held = await hold(ctx, agent.id)
    found = await fetch(ctx, held, child_id)
    if found.relation.relationship_type is not RelationshipType.direct:
        raise NotADirectSubAgent
    return await _store(ctx, held, found, given(body))


async def _store(ctx: Context, held: Agent, found: AttachedAgent, wanted: dict[str, Any]) -> AttachedAgent:
    if await store(ctx, found, wanted):
        await change(ctx, held, touched=("sub_agents",), summary=f"Changed sub-agent {found.agent.name}.")
    return found


async def store(ctx: Context, found: AttachedAgent, wanted: dict[str, Any]) -> bool:
    """Change a sub-agent whose parent is held; whether anything did."""
    if wanted.get("delegation_prompt", "") is None:
        wanted = {**wanted, "delegation_prompt": ""}
    wanted = with_defaults(wanted)
    is_changed = False
    for record, names in ((found.agent, _OF_AGENT), (found.relation, wanted.keys() - _OF_AGENT)):
        changes = {name: wanted[name] for name in names & wanted.keys()}
        changes = {name: value for name, value in changes.items() if getattr(record, name) != value}
        await ctx.db.update(record, **changes)
        is_changed = is_changed or bool(changes)
    return is_changed


async def detach(ctx: Context, agent: Agent, child_id: str) -> None:
    """A direct sub-agent is deleted, a template only detached."""
    await hold_graph(ctx)
    held = await hold(ctx, agent.id)
    found = await fetch(ctx, held, child_id)
    await discard(ctx, found)
    is_direct = found.relation.relationship_type is RelationshipType.direct
    await _count(ctx, held, -1, f"{'Deleted' if is_direct else 'Detached'} sub-agent {found.agent.name}.")


async def discard(ctx: Context, found: AttachedAgent) -> None:
    """Take a sub-agent from its parent, which counts it."""
    await ctx.db.delete(found.relation)
    if found.relation.relationship_type is RelationshipType.direct:
        await remove(ctx, found.agent)


async def fetch(ctx: Context, agent: Agent, child_id: str) -> AttachedAgent:
    relation = await ctx.db.find(SubAgent, parent_id=agent.id, child_id=child_id)
    child = await ctx.db.get(Agent, child_id) if relation else None
    if relation is None or child is None:
        raise SubAgentNotFound
    return AttachedAgent(relation, child)


async def _hold_with_room(ctx: Context, agent: Agent) -> Agent:
    held = await hold(ctx, agent.id)
    if held.sub_agent_count >= MOST_SUB_AGENTS:
        raise TooManyAttached
    return held


async def _count(ctx: Context, held: Agent, difference: int, summary: str) -> None:
    await change(
        ctx,
        held,
        sub_agent_count=held.sub_agent_count + difference,
        touched=("sub_agents",),
        summary=summary,
    )
