from msgspec import UNSET

from retinue.agents import details, drafts, figures, service
from retinue.agents.draft_schemas import Publication, PublishedAgent
from retinue.agents.errors import DraftNotFound, NotArchived
from retinue.agents.loaders import AgentById
from retinue.agents.models import Agent, AgentStatus
from retinue.agents.queries import AGENTS
from retinue.agents.schemas import (
    AgentCreate,
    AgentDetail,
    AgentList,
    AgentListed,
    AgentOut,
    AgentUpdate,
)
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/agents", tag="agents")


@routes.get("", requires="agents:read", cached=True)
async def list_agents(ctx: Context, query: AgentList) -> Page[AgentListed]:
    """List the agents of the tenant, newest first by default; direct sub-agents are left out.

    With `include=stats` each agent carries figures of the `period`.
    """
    return await figures.listed(ctx, await AGENTS.page(ctx.db, query), query)


@routes.post("", requires="agents:write", status=201, versioned=Agent)
async def create_agent(ctx: Context, body: AgentCreate) -> AgentOut:
    """Create an agent as version 1. With `status: published` it is in use at once.

    Tools, sub-agents, knowledge and the web search have paths of their own. `warnings` names fields that had
    no effect, as in `ignored_field:tools`.
    """
    return AgentOut.of(await service.create(ctx, body))


@routes.get("/{agent_id}", requires="agents:read", versioned=Agent, cached=True)
async def get_agent(ctx: Context, agent: AgentById) -> AgentDetail:
    """Return the agent with its tools, its sub-agents and the size of its knowledge base."""
    return await details.render_agent(ctx, agent, AgentDetail)


@routes.put("/{agent_id}", requires="agents:write", errors=(InvalidTransition,), versioned=Agent)
async def update_agent(ctx: Context, agent: AgentById, body: AgentUpdate) -> AgentOut:
    """Change the given fields; omitted ones stay.

    Each change creates a new version. Null resets an optional field to its default. `warnings` names fields
    that had no effect, as in `ignored_field:tools`.
    """
    return AgentOut.of(await service.update(ctx, agent, body))


@routes.delete("/{agent_id}", requires="agents:delete", status=204, versioned=Agent)
async def delete_agent(ctx: Context, agent: AgentById) -> None:
    """Delete the agent with its documents, conversations, embed keys, tool attachments and direct sub-agents.

    Agents that delegate to it lose it as a sub-agent. This cannot be undone.
    """
    await service.delete(ctx, agent)


@routes.post(
    "/{agent_id}/publish",
    requires="agents:write",
    errors=(InvalidTransition, DraftNotFound),
    versioned=Agent,
)
async def publish_agent(ctx: Context, agent: AgentById, body: Publication) -> PublishedAgent:
    """Publish the agent as it is, or with `from_draft` what its draft says, as one new version.

    Archived agents are refused with 409 `invalid_transition`: restore them first. If somebody else changed
    the agent since the draft was begun, the answer is 412 `version_conflict` unless `force` is set. Tools and
    sub-agents of the draft that no longer exist are left out and named in `warnings`.
    """
    published = await drafts.publish(ctx, agent, body)
    return PublishedAgent.of(published.agent, warnings=published.warnings if body.from_draft else UNSET)


@routes.post("/{agent_id}/archive", requires="agents:write", versioned=Agent)
async def archive_agent(ctx: Context, agent: AgentById) -> AgentOut:
    """Take the agent out of use: every chat is refused with 409 `agent_archived` until it is restored."""
    return AgentOut.of(await service.change(ctx, agent, status=AgentStatus.archived))


@routes.post("/{agent_id}/restore", requires="agents:write", errors=(NotArchived,), versioned=Agent)
async def restore_agent(ctx: Context, agent: AgentById) -> AgentOut:
    """Return an archived agent to `draft`. A published agent is refused with 409 `agent_not_archived`."""
    return AgentOut.of(await service.restore(ctx, agent))
