from retinue.agents import details, versions
from retinue.agents.errors import VersionNotFound
from retinue.agents.loaders import AgentById
from retinue.agents.queries import VERSIONS
from retinue.agents.schemas import AgentRestored, Difference, DiffQuery, VersionOut, VersionSummary
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery

routes = Routes("/api/v1/agents/{agent_id}/versions", tag="agents")


@routes.get("", requires="agents:read")
async def list_agent_versions(ctx: Context, agent: AgentById, query: PageQuery) -> Page[VersionSummary]:
    """Newest first."""
    return (await VERSIONS.page(ctx.db, query, agent_id=agent.id)).shown(versions.summed_up)


@routes.get("/{version}", requires="agents:read", errors=(VersionNotFound,))
async def get_agent_version(ctx: Context, agent: AgentById, version: str) -> VersionOut:
    return versions.shown(await versions.fetch(ctx, agent, version))


@routes.get("/{version}/diff", requires="agents:read", wrap=True, errors=(VersionNotFound,))
async def compare_agent_versions(
    ctx: Context, agent: AgentById, version: str, query: DiffQuery
) -> list[Difference]:
    """From `against` (the version before, if it is not given) to this version."""
    found = await versions.fetch(ctx, agent, version)
    return await versions.compare(ctx, agent, found, query.against)


@routes.post("/{version}/restore", requires="agents:write", errors=(VersionNotFound,))
async def restore_agent_version(ctx: Context, agent: AgentById, version: str) -> AgentRestored:
    """Makes a new version of the agent as it was then; its status stays."""
    found = await versions.fetch(ctx, agent, version)
    restored = await versions.restore(ctx, agent, found)
    return await details.shown(
        ctx, restored.agent, AgentRestored, restored_version=found.version, warnings=restored.warnings
    )
