from retinue.agents import details, drafts, versions
from retinue.agents.errors import VersionNotFound
from retinue.agents.loaders import AgentById
from retinue.agents.queries import VERSIONS
from retinue.agents.schemas import AgentRestored, Difference, DiffQuery, VersionOut, VersionSummary
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery

routes = Routes("/api/v1/agents/{agent_id}/versions", tag="agents")


@routes.get("", requires="agents:read", cached=True)
async def list_agent_versions(ctx: Context, agent: AgentById, query: PageQuery) -> Page[VersionSummary]:
    """List the versions of the agent, newest first; the newest 200 are kept."""
    return (await VERSIONS.page(ctx.db, query, agent_id=agent.id)).to_page(versions.summarize)


@routes.get("/{version}", requires="agents:read", errors=(VersionNotFound,), cached=True)
async def get_agent_version(ctx: Context, agent: AgentById, version: str) -> VersionOut:
    """Return one version with the whole agent as it was then."""
    return versions.render_version(ctx, await versions.fetch(ctx, agent, version))


@routes.get("/{version}/diff", requires="agents:read", wrap=True, errors=(VersionNotFound,))
async def compare_agent_versions(
    ctx: Context, agent: AgentById, version: str, query: DiffQuery
) -> list[Difference]:
    """List what changed from the version `against` to this version; `draft` stands for the agent's draft."""
    return await drafts.compare(ctx, agent, version, query.against)


@routes.post("/{version}/restore", requires="agents:write", errors=(VersionNotFound,))
async def restore_agent_version(ctx: Context, agent: AgentById, version: str) -> AgentRestored:
    """Save the content of this version as a new version; the status of the agent stays.

    Tools and sub-agents that cannot be restored are left out and named in `warnings`.
    """
    stored = await versions.fetch(ctx, agent, version)
    restored = await versions.restore(ctx, agent, stored)
    return await details.render_agent(
        ctx, restored.agent, AgentRestored, restored_version=stored.version, warnings=restored.warnings
    )
