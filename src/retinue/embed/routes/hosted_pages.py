from retinue.agents.loaders import AgentById
from retinue.embed import widget_designs
from retinue.embed.errors import HostedPageNotFound, SlugTaken
from retinue.embed.hosted import hosted_pages, page_document, public_pages
from retinue.embed.hosted.page_schemas import HostedPageOut, HostedPageUpdate, PublicPage
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.page_scripts import ScriptQuery, scripts_missing, serve_script
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes

routes = Routes("/api/v1/agents/{agent_id}/page", tag="hosted pages")
public_routes = Routes("/api/v1/public/pages", tag="hosted pages")
member_routes = Routes("/api/v1/chat/pages", tag="hosted pages")
documents = Routes("", tag="hosted pages")


@routes.get("", requires="embed_keys:read")
async def get_hosted_page(ctx: Context, agent: AgentById) -> HostedPageOut:
    """Return the agent's page for people who have its link, with the figures of the current month."""
    return await hosted_pages.render_page(ctx, agent)


@routes.put("", requires="embed_keys:write", errors=(SlugTaken, VaultSealed))
async def update_hosted_page(ctx: Context, agent: AgentById, body: HostedPageUpdate) -> HostedPageOut:
    """Switch the agent's page on, or change its address, its audience and the limits of its embed key.

    A public page gets an embed key of its own whose only domain is this instance, and needs a monthly budget.
    An address that is given up stays reserved for the agent.
    """
    return await hosted_pages.open_page(ctx, agent, body)


@routes.delete("", requires="embed_keys:write", status=204)
async def delete_hosted_page(ctx: Context, agent: AgentById) -> None:
    """Switch the agent's page off. Its embed key no longer opens the page; its address stays reserved."""
    await hosted_pages.close_page(ctx, agent)


@public_routes.get("/{page_slug}", requires=PUBLIC, other_status=304, errors=(HostedPageNotFound,))
async def get_public_page(ctx: Context, page_slug: str, request: Request) -> Reply[PublicPage | None]:
    """Return the look of a page and what it sends to chat; each request counts as a visit.

    Of a page for members it says only that they must sign in.
    """
    return await public_pages.show_to_visitor(ctx, page_slug, request)


@member_routes.get("/{page_slug}", requires="agents:chat", errors=(HostedPageNotFound,))
async def get_page_for_member(ctx: Context, page_slug: str) -> PublicPage:
    """Return the look of a page of the caller's organization; they chat with their own access token."""
    return await public_pages.show_to_member(ctx, page_slug)


@documents.get("/c/{page_slug}", requires=PUBLIC, errors=(HostedPageNotFound,))
async def get_hosted_page_document(ctx: Context, page_slug: str, request: Request) -> Reply[WebDocument]:
    """Return the page on which people chat with an agent."""
    try:
        opened = await public_pages.find_open_page(ctx, page_slug, request)
    except HostedPageNotFound:
        if "text/html" in request.header(b"accept"):
            return page_document.render_not_found()
        raise
    script = page_document.hosted_script()
    if script is None:
        return scripts_missing()
    settings = page_document.shown_look(opened, await widget_designs.load(ctx, opened.agent))
    return page_document.render_page(
        opened.page, page_document.shown_name(opened, settings), script, settings
    )


@documents.get("/c/{page_slug}/manifest.webmanifest", requires=PUBLIC, errors=(HostedPageNotFound,))
async def get_hosted_page_manifest(ctx: Context, page_slug: str, request: Request) -> Reply[WebDocument]:
    """Return the manifest with which a phone installs the page."""
    opened = await public_pages.find_open_page(ctx, page_slug, request)
    settings = page_document.shown_look(opened, await widget_designs.load(ctx, opened.agent))
    name = page_document.shown_name(opened, settings)
    return page_document.render_manifest(opened, name, settings)


@documents.get("/c/{page_slug}/icon.svg", requires=PUBLIC, errors=(HostedPageNotFound,))
async def get_hosted_page_icon(ctx: Context, page_slug: str, request: Request) -> Reply[WebDocument]:
    """Return the icon of the page, in the colours of the agent's widget."""
    opened = await public_pages.find_open_page(ctx, page_slug, request)
    settings = page_document.shown_look(opened, await widget_designs.load(ctx, opened.agent))
    return page_document.render_icon(settings)


@documents.get("/embed/hosted.js", requires=PUBLIC, cost="free", other_status=304)
async def get_hosted_page_script(
    ctx: Context,  # noqa: ARG001  every handler takes it
    query: ScriptQuery,
    request: Request,
) -> Reply[WebDocument | None]:
    """Return the script that draws hosted pages."""
    return serve_script(page_document.hosted_script(), query, request)


@documents.get("/embed/hosted.css", requires=PUBLIC, cost="free", is_documented=False)
async def get_hosted_page_style(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the style sheet around hosted pages."""
    return Reply(page_document.style_sheet(), headers=(("Cache-Control", "public, max-age=3600"),))


@documents.get("/embed/display.woff2", requires=PUBLIC, cost="free", other_status=304, is_documented=False)
async def get_display_font(
    ctx: Context,  # noqa: ARG001  every handler takes it
    query: ScriptQuery,
    request: Request,
) -> Reply[WebDocument | None]:
    """Return the font of the welcome of hosted pages."""
    return serve_script(page_document.display_font(), query, request, "font/woff2")


@documents.get("/embed/page-preview", requires=PUBLIC, cost="free", is_documented=False)
async def get_hosted_page_preview(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the page in which the console shows a design; it knows no agent and no key."""
    if page_document.hosted_script() is None:
        return scripts_missing()
    return page_document.render_preview()
