"""Creation, change and deletion of agents; every change stores a version of the whole agent."""

from collections.abc import Collection
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.errors import AgentNotFound, NotArchived
from retinue.agents.events import AgentCreated, AgentDeleted, AgentEvent, AgentPublished, AgentUpdated
from retinue.agents.models import Agent, AgentStatus, AgentVersion, LogSettings, SubAgent, WebSearch
from retinue.agents.queries import lock_agent_graph
from retinue.agents.schemas import AgentCreate, AgentUpdate
from retinue.agents.settings import AgentSettings
from retinue.agents.snapshots import VERSIONED_FIELDS, build_snapshot
from retinue.kit.context import Context, references
from retinue.kit.db.statements import Statement
from retinue.kit.errors import InvalidTransition
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.derived import declared_fields
from retinue.kit.schema.output_schema import compile_output_schema
from retinue.knowledge import service as knowledge

MAX_VERSIONS = 200
"""Number of versions kept for each agent; every one holds the whole agent."""

_versions = AgentVersion.__table__
_PURGE_VERSIONS = Statement(
    sa.delete(_versions).where(
        _versions.c.agent_id == sa.bindparam("agent_id"), _versions.c.version <= sa.bindparam("oldest")
    )
)

REFERENCE = "agent"
"""Target name for `kit.context.references.Reference`: other domains detach from a deleted agent."""

_ALLOWED_TRANSITIONS: dict[AgentStatus, list[AgentStatus]] = {
    AgentStatus.draft: [AgentStatus.published, AgentStatus.archived],
    AgentStatus.published: [AgentStatus.draft, AgentStatus.archived],
    AgentStatus.archived: [AgentStatus.draft],
}
_EMPTIED_BY_NULL = {
    field.name: type(field.default) for field in declared_fields(AgentSettings) if field.is_emptied_by_null
}


def with_defaults(wanted: JsonObject) -> JsonObject:
    """Return the fields with defaults in place of nulls; raise for an output schema that cannot be used."""
    if wanted.get("output_schema") is not None:
        compile_output_schema(wanted["output_schema"])
    filled = {
        name: _EMPTIED_BY_NULL[name]() if value is None and name in _EMPTIED_BY_NULL else value
        for name, value in wanted.items()
    }
    if "fallback_models" in filled:
        filled["fallback_models"] = list(dict.fromkeys(filled["fallback_models"]))
    return filled


async def create(ctx: Context, body: AgentCreate) -> Agent:
    status = AgentStatus(body.status or AgentStatus.draft)
    is_published = status is AgentStatus.published
    agent = Agent(
        **with_defaults({**sent_fields(body), "status": status}),
        web_search=WebSearch(),
        log_settings=LogSettings(),
        published_at=ctx.now if is_published else None,
        created_by=ctx.principal.id,
    )
    await ctx.db.insert(agent)
    await _store_version(ctx, agent, "Created.")
    _emit(ctx, AgentCreated, agent)
    if is_published:
        _emit(ctx, AgentPublished, agent)
    return agent


async def update(ctx: Context, agent: Agent, body: AgentUpdate) -> Agent:
    return await change(ctx, agent, **with_defaults(sent_fields(body)))


async def restore(ctx: Context, agent: Agent) -> Agent:
    """Restore an archived agent as a draft; it does not unpublish a published one."""
    locked = await lock_agent(ctx, agent.id)
    if locked.status is AgentStatus.published:
        raise NotArchived
    return await change(ctx, locked, status=AgentStatus.draft)


async def lock_agent(ctx: Context, agent_id: str) -> Agent:
    """Lock the agent against concurrent changes and return its current state."""
    locked = await ctx.db.lock(Agent, agent_id)
    if locked is None:
        raise AgentNotFound
    return locked


async def change(
    ctx: Context,
    agent: Agent,
    *,
    summary: str = "",
    touched: Collection[str] = (),
    is_publication: bool = False,
    **changes: Any,
) -> Agent:
    """Store the fields and keep the whole agent as its next version.

    `touched` names what changed beside the record: its tools, its sub-agents. Without a difference there is
    no new version, unless a `summary` is given. `is_publication` publishes the agent, again if it is already.
    """
    locked = await lock_agent(ctx, agent.id)
    if is_publication:
        changes["status"] = AgentStatus.published
    changes = {name: value for name, value in changes.items() if getattr(locked, name) != value}
    is_being_published = _check_status(locked, changes) or is_publication
    if is_being_published:
        changes["published_at"] = ctx.now
    changed = sorted((changes.keys() & VERSIONED_FIELDS) | set(touched))
    if changed or summary:
        changes["version"] = locked.version + 1
    await ctx.db.update(locked, **changes)
    if changed or summary:
        await _store_version(ctx, locked, summary or f"Changed {', '.join(changed)}.")
        _emit(ctx, AgentUpdated, locked, changed)
    if is_being_published:
        _emit(ctx, AgentPublished, locked, changed)
    return locked


def _check_status(locked: Agent, changes: JsonObject) -> bool:
    """Return whether the agent is being published; raise for a transition that is not allowed."""
    wanted = changes.get("status")
    if wanted is None:
        return False
    allowed = _ALLOWED_TRANSITIONS[locked.status]
    if wanted not in allowed:
        raise InvalidTransition(locked.status, wanted, [status.value for status in allowed])
    return wanted is AgentStatus.published


async def _store_version(ctx: Context, agent: Agent, summary: str) -> None:
    await ctx.db.insert(
        AgentVersion(
            agent_id=agent.id,
            version=agent.version,
            snapshot=msgspec.to_builtins(await build_snapshot(ctx, agent)),
            summary=summary,
            is_published=agent.status is AgentStatus.published,
            created_by=ctx.principal.id,
        )
    )
    await ctx.db.execute(_PURGE_VERSIONS, agent_id=agent.id, oldest=agent.version - MAX_VERSIONS)


def _emit(ctx: Context, kind: type[AgentEvent], agent: Agent, changes: Collection[str] = ()) -> None:
    ctx.emit(
        kind(
            agent_id=agent.id,
            name=agent.name,
            status=agent.status,
            version=agent.version,
            changes=list(changes),
        )
    )


async def delete(ctx: Context, agent: Agent) -> None:
    """Delete an agent with everything it owns, and detach it from the agents that delegate to it."""
    await lock_agent_graph(ctx)
    # Before the agent is locked: its users lock their own records first and then the agent.
    await references.detach_referrers(ctx, REFERENCE, agent.id)
    locked = await lock_agent(ctx, agent.id)
    for relation in await ctx.db.all(SubAgent, child_id=locked.id):
        await ctx.db.delete(relation)
        parent = await lock_agent(ctx, relation.parent_id)
        await change(
            ctx,
            parent,
            sub_agent_count=parent.sub_agent_count - 1,
            touched=("sub_agents",),
            summary=f"Sub-agent {locked.name} was deleted.",
        )
    for child in await ctx.db.all(Agent, parent_id=locked.id):
        await delete_with_knowledge(ctx, child)
    await delete_with_knowledge(ctx, locked)
    _emit(ctx, AgentDeleted, locked)


async def delete_with_knowledge(ctx: Context, agent: Agent) -> None:
    """Detach all referrers, then delete an agent and its knowledge base."""
    await references.detach_referrers(ctx, REFERENCE, agent.id)
    await ctx.db.delete(agent)
    if agent.knowledge_base_id is not None:
        await knowledge.delete_base(ctx, agent.knowledge_base_id)
