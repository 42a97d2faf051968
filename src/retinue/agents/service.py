"""Agents are created, changed and deleted; every change is a version of the whole agent."""

from collections.abc import Collection
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.errors import AgentNotFound, NotArchived
from retinue.agents.events import AgentCreated, AgentDeleted, AgentEvent, AgentPublished, AgentUpdated
from retinue.agents.models import Agent, AgentStatus, AgentVersion, LogSettings, SubAgent, WebSearch
from retinue.agents.queries import hold_graph
from retinue.agents.schemas import AgentCreate, AgentUpdate
from retinue.agents.snapshots import VERSIONED, snapshot_of
from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import InvalidTransition
from retinue.kit.schemas import given
from retinue.knowledge import service as knowledge

MOST_VERSIONS = 200
"""How many versions of an agent are kept: each holds the whole agent."""

_versions = AgentVersion.__table__
_FORGET_VERSIONS: Statement[Any] = Statement(
    sa.delete(_versions).where(
        _versions.c.agent_id == sa.bindparam("agent_id"), _versions.c.version <= sa.bindparam("oldest")
    )
)

REFERENCE = "agent"
"""What other domains point at with a `kit.references.Reference`: they let go of an agent that is deleted."""

_NEXT: dict[AgentStatus, list[AgentStatus]] = {
    AgentStatus.draft: [AgentStatus.published, AgentStatus.archived],
    AgentStatus.published: [AgentStatus.draft, AgentStatus.archived],
    AgentStatus.archived: [AgentStatus.draft],
}
_DEFAULTS: dict[str, Any] = {"description": "", "temperature": 0.7, "max_tokens": 2048}


def with_defaults(wanted: dict[str, Any]) -> dict[str, Any]:
    """The same fields, with what they are by default where null was given."""
    filled = {
        name: _DEFAULTS[name] if value is None and name in _DEFAULTS else value
        for name, value in wanted.items()
    }
    if "fallback_models" in filled:
        filled["fallback_models"] = list(dict.fromkeys(filled["fallback_models"] or ()))
    return filled


async def create(ctx: Context, body: AgentCreate) -> Agent:
    status = AgentStatus(body.status or AgentStatus.draft)
    is_published = status is AgentStatus.published
    agent = Agent(
        **with_defaults({**given(body), "status": status}),
        web_search=WebSearch(),
        log_settings=LogSettings(),
        published_at=ctx.now if is_published else None,
        created_by=ctx.principal.id,
    )
    await ctx.db.insert(agent)
    await _keep_version(ctx, agent, "Created.")
    _tell(ctx, AgentCreated, agent)
    if is_published:
        _tell(ctx, AgentPublished, agent)
    return agent


async def update(ctx: Context, agent: Agent, body: AgentUpdate) -> Agent:
    return await change(ctx, agent, **with_defaults(given(body)))


async def restore(ctx: Context, agent: Agent) -> Agent:
    """Take an agent out of the archive; to unpublish one is another decision."""
    held = await hold(ctx, agent.id)
    if held.status is AgentStatus.published:
        raise NotArchived
    return await change(ctx, held, status=AgentStatus.draft)


async def hold(ctx: Context, agent_id: str) -> Agent:
    """The agent as it is now, held against others who would change it."""
    held = await ctx.db.lock(Agent, agent_id)
    if held is None:
        raise AgentNotFound
    return held


async def change(
    ctx: Context, agent: Agent, *, summary: str = "", touched: Collection[str] = (), **changes: Any
) -> Agent:
    """Store these fields and keep the whole agent as its next version.

    `touched` names what changed beside the record: its tools, its sub-agents. Where nothing of a version
    differs there is no new one, unless a `summary` asks for it.
    """
    held = await hold(ctx, agent.id)
    changes = {name: value for name, value in changes.items() if getattr(held, name) != value}
    is_entering = _check_status(held, changes)
    if is_entering:
        changes["published_at"] = ctx.now
    changed = sorted((changes.keys() & VERSIONED) | set(touched))
    if changed or summary:
        changes["version"] = held.version + 1
    await ctx.db.update(held, **changes)
    if changed or summary:
        await _keep_version(ctx, held, summary or f"Changed {', '.join(changed)}.")
        _tell(ctx, AgentUpdated, held, changed)
    if is_entering:
        _tell(ctx, AgentPublished, held, changed)
    return held


def _check_status(held: Agent, changes: dict[str, Any]) -> bool:
    """Whether the agent enters the published state; a way there that does not exist is refused."""
    wanted = changes.get("status")
    if wanted is None:
        return False
    allowed = _NEXT[held.status]
    if wanted not in allowed:
        raise InvalidTransition(held.status, wanted, [status.value for status in allowed])
    return wanted is AgentStatus.published


async def _keep_version(ctx: Context, agent: Agent, summary: str) -> None:
    await ctx.db.insert(
        AgentVersion(
            agent_id=agent.id,
            version=agent.version,
            snapshot=msgspec.to_builtins(await snapshot_of(ctx, agent)),
            summary=summary,
            is_published=agent.status is AgentStatus.published,
            created_by=ctx.principal.id,
        )
    )
    await ctx.db.execute(_FORGET_VERSIONS, agent_id=agent.id, oldest=agent.version - MOST_VERSIONS)


def _tell(ctx: Context, kind: type[AgentEvent], agent: Agent, changes: Collection[str] = ()) -> None:
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
    """Delete an agent with all that is only its own, and take it from the agents that delegate to it."""
    await hold_graph(ctx)
    # Before the agent is held: who uses it holds what is his first, and then the agent.
    await references.detach(ctx, REFERENCE, agent.id)
    held = await hold(ctx, agent.id)
    for relation in await ctx.db.all(SubAgent, child_id=held.id):
        await ctx.db.delete(relation)
        parent = await hold(ctx, relation.parent_id)
        await change(
            ctx,
            parent,
            sub_agent_count=parent.sub_agent_count - 1,
            touched=("sub_agents",),
            summary=f"Sub-agent {held.name} was deleted.",
        )
    for child in await ctx.db.all(Agent, parent_id=held.id):
        await remove(ctx, child)
    await remove(ctx, held)
    _tell(ctx, AgentDeleted, held)


async def remove(ctx: Context, agent: Agent) -> None:
    """Delete the record of an agent and what it knows, and make everyone above let go of it first."""
    await references.detach(ctx, REFERENCE, agent.id)
    await ctx.db.delete(agent)
    if agent.knowledge_base_id is not None:
        await knowledge.delete_base(ctx, agent.knowledge_base_id)
