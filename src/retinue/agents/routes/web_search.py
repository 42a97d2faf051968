from retinue.agents import web_search
from retinue.agents.loaders import AgentById
from retinue.agents.web_search import WebSearchOut, WebSearchUpdate
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/agents/{agent_id}/websearch", tag="agents")


@routes.get("/config", requires="agents:read")
async def get_web_search(ctx: Context, agent: AgentById) -> WebSearchOut:
    return await web_search.show(ctx, agent)


@routes.put("/config", requires="agents:write", errors=(Forbidden,))
async def update_web_search(ctx: Context, agent: AgentById, body: WebSearchUpdate) -> WebSearchOut:
    """Any engine may be named; `configured` and `warnings` say whether it could be asked."""
    return await web_search.update(ctx, agent, body)


@routes.post("/enable", requires="agents:write")
async def enable_web_search(ctx: Context, agent: AgentById) -> WebSearchOut:
    return await web_search.switch(ctx, agent, enabled=True)


@routes.post("/disable", requires="agents:write")
async def disable_web_search(ctx: Context, agent: AgentById) -> WebSearchOut:
    return await web_search.switch(ctx, agent, enabled=False)
