from retinue.agents import web_search
from retinue.agents.loaders import AgentById
from retinue.agents.web_search import WebSearchOut, WebSearchUpdate
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/agents/{agent_id}/websearch", tag="agents")


@routes.get("/config", requires="agents:read")
async def get_web_search(ctx: Context, agent: AgentById) -> WebSearchOut:
    """Return the agent's web search configuration and whether a search could run with it."""
    return await web_search.show(ctx, agent)


@routes.put("/config", requires="agents:write", errors=(Forbidden,))
async def update_web_search(ctx: Context, agent: AgentById, body: WebSearchUpdate) -> WebSearchOut:
    """Change the given fields; omitted ones stay. A change is saved as a new version of the agent.

    Any engine name is accepted; `configured` and `warnings` say whether a search could run.
    """
    return await web_search.update(ctx, agent, body)


@routes.post("/enable", requires="agents:write")
async def enable_web_search(ctx: Context, agent: AgentById) -> WebSearchOut:
    """Offer the tool `web_search` to the model. Succeeds even if no search can run; see `configured`."""
    return await web_search.set_enabled(ctx, agent, enabled=True)


@routes.post("/disable", requires="agents:write")
async def disable_web_search(ctx: Context, agent: AgentById) -> WebSearchOut:
    """Stop offering the tool `web_search`; the other settings are kept."""
    return await web_search.set_enabled(ctx, agent, enabled=False)
