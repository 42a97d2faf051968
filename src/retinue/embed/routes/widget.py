from retinue.agents.models import Agent
from retinue.embed import installations, widget
from retinue.embed.principals import find_active_key
from retinue.kit.context import Context
from retinue.kit.errors import NotFound
from retinue.kit.http.page_scripts import ScriptQuery, scripts_missing, serve_script
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.schema.base import Schema

routes = Routes("/embed", tag="public chat")


class FrameQuery(Schema, kw_only=True):
    api_key: str | None = None


@routes.get("/widget.js", requires=PUBLIC, cost="free", other_status=304)
async def get_widget_script(
    ctx: Context,  # noqa: ARG001  every handler takes it
    query: ScriptQuery,
    request: Request,
) -> Reply[WebDocument | None]:
    """Return the script of the chat widget; pages of any origin may load it."""
    return serve_script(widget.script(), query, request)


@routes.get("/preview", requires=PUBLIC, cost="free", is_documented=False)
async def get_widget_preview(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the page in which the console shows a design; it knows no agent and no key."""
    if widget.script() is None:
        return scripts_missing()
    return Reply(WebDocument(widget.preview_page(), policy=widget.PREVIEW_POLICY))


@routes.get("/preview.js", requires=PUBLIC, cost="free", is_documented=False)
async def get_widget_preview_script(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the script of the preview, which passes messages between the widget and the console."""
    script = widget.preview_script()
    if script is None:
        return scripts_missing()
    return Reply(WebDocument(script.content, "text/javascript; charset=utf-8"))


@routes.get("/{agent_id}", requires=PUBLIC, errors=(NotFound,))
async def get_widget_page(
    ctx: Context, agent_id: str, query: FrameQuery, request: Request
) -> Reply[WebDocument]:
    """Return the chat widget as a page, for the frame of `iframe_code`.

    Only pages that the key's `allowed_domains` permit can frame it.
    """
    key = await find_active_key(ctx.instance, query.api_key or "")
    if key is None or key.agent_id != agent_id:
        raise NotFound
    ctx.bind_tenant(key.tenant_id)
    agent = await ctx.db.get(Agent, agent_id)
    if agent is None:
        raise NotFound
    origin = installations.origin_of_address(request.header(b"referer"))
    await installations.note(ctx, key.id, agent.id, origin)
    if widget.script() is None:
        return scripts_missing()
    policy = widget.page_policy(key.allowed_domains)
    content = widget.page(agent, query.api_key or "")
    return Reply(WebDocument(content, policy=policy), headers=(("Cache-Control", "no-store"),))
