from retinue.agents.loaders import AgentById
from retinue.embed import installations, widget_designs
from retinue.embed.loaders import PublicAgent
from retinue.embed.schemas import PublicWidget, WidgetInstallationOut, WidgetSettings
from retinue.kit.context import Context
from retinue.kit.http.request import Request
from retinue.kit.http.routing import EMBED_KEY, Routes

routes = Routes("/api/v1/agents/{agent_id}/widget", tag="embed keys")
public_routes = Routes("/api/v1/public/agents/{agent_id}/widget", tag="public chat")


@routes.get("", requires="agents:read")
async def get_widget_settings(ctx: Context, agent: AgentById) -> WidgetSettings:
    """Return how the agent's chat widget looks."""
    return await widget_designs.load(ctx, agent)


@routes.put("", requires="agents:write")
async def update_widget_settings(ctx: Context, agent: AgentById, body: WidgetSettings) -> WidgetSettings:
    """Replace the settings of the agent's chat widget; pages that have it show them within five minutes."""
    return await widget_designs.save(ctx, agent, body)


@routes.get("/installations", requires="embed_keys:read", wrap=True)
async def list_widget_installations(ctx: Context, agent: AgentById) -> list[WidgetInstallationOut]:
    """List the origins whose pages have loaded the widget, or tried to and were refused, the latest first.

    No page is fetched: an origin appears when a browser loads the widget there.
    """
    return await installations.list_of_agent(ctx, agent)


@public_routes.get("", requires=EMBED_KEY)
async def get_public_widget(ctx: Context, agent: PublicAgent, request: Request) -> PublicWidget:
    """Return how the widget looks, for the page that loads it; the page's origin is noted."""
    origin = request.header(b"origin") or None
    await installations.note(ctx, ctx.principal.id, agent.id, origin)
    return await widget_designs.load_for_page(ctx, agent)
