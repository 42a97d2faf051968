"""Sub-agents: other agents of the tenant (templates), or agents created for one parent (direct)."""

from retinue.agents.errors import (
    AlreadyAttached,
    NotADirectSubAgent,
    SubAgentNotFound,
    TooManyAttached,
)
from retinue.agents.graph import require_valid_edge
from retinue.agents.loaders import fetch_agent
from retinue.agents.models import Agent, LogSettings, RelationshipType, SubAgent, WebSearch
from retinue.agents.queries import (
    AttachedAgent,
    load_delegation_edges,
    load_sub_agents,
    lock_agent_graph,
    next_sub_agent_order,
)
from retinue.agents.schemas import (
    DirectAgent,
    DirectCreate,
    DirectUpdate,
    SubAgentAttach,
    SubAgentOut,
    SubAgentPatch,
)
from retinue.agents.service import change, delete_with_knowledge, lock_agent, with_defaults
from retinue.kit.context import Context
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields

MAX_SUB_AGENTS = 50
_AGENT_FIELDS = frozenset(DirectAgent.__struct_fields__)


def render_sub_agent(attached: AttachedAgent) -> SubAgentOut:
    relation, agent = attached.relation, attached.agent
    more: JsonObject = {}
    if relation.relationship_type is RelationshipType.direct:
        more = {name: getattr(agent, name) for name in _AGENT_FIELDS}
    return SubAgentOut(
        id=agent.id,
        relationship_type=relation.relationship_type,
        is_enabled=relation.is_enabled,
        delegation_prompt=relation.delegation_prompt,
        **{"name": agent.name, **more},
    )


async def attach(ctx: Context, agent: Agent, body: SubAgentAttach) -> AttachedAgent:
    await lock_agent_graph(ctx)
    child = await fetch_agent(ctx, body.agent_id)
    locked = await _lock_parent(ctx, agent)
    if await ctx.db.find(SubAgent, parent_id=locked.id, child_id=child.id):
        raise AlreadyAttached
    require_valid_edge(await load_delegation_edges(ctx), locked.id, child.id)
    relation = await ctx.db.insert(
        SubAgent(
            parent_id=locked.id,
            child_id=child.id,
            relationship_type=RelationshipType.template,
            is_enabled=body.is_enabled is not False,
            delegation_prompt=body.delegation_prompt or "",
            display_order=await next_sub_agent_order(ctx, locked),
        )
    )
    await _change_count(ctx, locked, 1, f"Attached sub-agent {child.name}.")
    return AttachedAgent(relation, child)


async def create_direct(ctx: Context, agent: Agent, body: DirectCreate) -> AttachedAgent:
    await lock_agent_graph(ctx)
    locked = await _lock_parent(ctx, agent)
    id = new_id(Agent.__prefix__)
    require_valid_edge(await load_delegation_edges(ctx), locked.id, id)
    fields = with_defaults(
        {name: value for name, value in sent_fields(body).items() if name in _AGENT_FIELDS}
    )
    relation = {
        "is_enabled": body.is_enabled is not False,
        "delegation_prompt": body.delegation_prompt or "",
        "display_order": await next_sub_agent_order(ctx, locked),
    }
    created = await add_direct(ctx, locked, id, fields, relation)
    await _change_count(ctx, locked, 1, f"Created sub-agent {created.agent.name}.")
    return created


async def add_direct(
    ctx: Context, parent: Agent, id: str, fields: JsonObject, relation: JsonObject
) -> AttachedAgent:
    """Store a direct sub-agent; the caller updates the parent's count."""
    child = await ctx.db.insert(build_direct(parent, id, fields, created_by=ctx.principal.id))
    relation_record = await ctx.db.insert(
        SubAgent(parent_id=parent.id, child_id=id, relationship_type=RelationshipType.direct, **relation)
    )
    return AttachedAgent(relation_record, child)


def build_direct(parent: Agent, id: str, fields: JsonObject, *, created_by: str) -> Agent:
    return Agent(
        id=id,
        **fields,
        web_search=WebSearch(),
        log_settings=LogSettings(),
        parent_id=parent.id,
        created_by=created_by,
    )


async def patch(ctx: Context, agent: Agent, child_id: str, body: SubAgentPatch) -> AttachedAgent:
    locked = await lock_agent(ctx, agent.id)
    return await _store(ctx, locked, await fetch(ctx, locked, child_id), sent_fields(body))


async def update_direct(ctx: Context, agent: Agent, child_id: str, body: DirectUpdate) -> AttachedAgent:
    locked = await lock_agent(ctx, agent.id)
    attached = await fetch(ctx, locked, child_id)
    if attached.relation.relationship_type is not RelationshipType.direct:
        raise NotADirectSubAgent
    return await _store(ctx, locked, attached, sent_fields(body))


async def _store(ctx: Context, locked: Agent, attached: AttachedAgent, wanted: JsonObject) -> AttachedAgent:
    if await store(ctx, attached, wanted):
        await change(
            ctx, locked, touched=("sub_agents",), summary=f"Changed sub-agent {attached.agent.name}."
        )
    return attached


async def store(ctx: Context, attached: AttachedAgent, wanted: JsonObject) -> bool:
    """Update a sub-agent whose parent is locked; return whether anything changed."""
    if wanted.get("delegation_prompt", "") is None:
        wanted = {**wanted, "delegation_prompt": ""}
    wanted = with_defaults(wanted)
    is_changed = False
    for record, names in (
        (attached.agent, _AGENT_FIELDS),
        (attached.relation, wanted.keys() - _AGENT_FIELDS),
    ):
        changes = {name: wanted[name] for name in names & wanted.keys()}
        changes = {name: value for name, value in changes.items() if getattr(record, name) != value}
        await ctx.db.update(record, **changes)
        is_changed = is_changed or bool(changes)
    return is_changed


async def reorder(ctx: Context, agent: Agent, order: list[str]) -> None:
    """Give the sub-agents the order of these ids, which are all of them."""
    attached = await load_sub_agents(ctx, agent)
    if [one.agent.id for one in attached] == order:
        return
    locked = await lock_agent(ctx, agent.id)
    for one in attached:
        await ctx.db.update(one.relation, display_order=order.index(one.agent.id))
    await change(ctx, locked, touched=("sub_agents",), summary="Changed the order of sub-agents.")


async def detach(ctx: Context, agent: Agent, child_id: str) -> None:
    """Delete a direct sub-agent, or detach a template."""
    await lock_agent_graph(ctx)
    locked = await lock_agent(ctx, agent.id)
    attached = await fetch(ctx, locked, child_id)
    await detach_or_delete(ctx, attached)
    is_direct = attached.relation.relationship_type is RelationshipType.direct
    await _change_count(
        ctx, locked, -1, f"{'Deleted' if is_direct else 'Detached'} sub-agent {attached.agent.name}."
    )


async def detach_or_delete(ctx: Context, attached: AttachedAgent) -> None:
    """Detach a sub-agent, and delete it if direct; the caller updates the parent's count."""
    await ctx.db.delete(attached.relation)
    if attached.relation.relationship_type is RelationshipType.direct:
        await delete_with_knowledge(ctx, attached.agent)


async def fetch(ctx: Context, agent: Agent, child_id: str) -> AttachedAgent:
    relation = await ctx.db.find(SubAgent, parent_id=agent.id, child_id=child_id)
    child = await ctx.db.get(Agent, child_id) if relation else None
    if relation is None or child is None:
        raise SubAgentNotFound
    return AttachedAgent(relation, child)


async def _lock_parent(ctx: Context, agent: Agent) -> Agent:
    locked = await lock_agent(ctx, agent.id)
    if locked.sub_agent_count >= MAX_SUB_AGENTS:
        raise TooManyAttached
    return locked


async def _change_count(ctx: Context, locked: Agent, difference: int, summary: str) -> None:
    await change(
        ctx,
        locked,
        sub_agent_count=locked.sub_agent_count + difference,
        touched=("sub_agents",),
        summary=summary,
    )
