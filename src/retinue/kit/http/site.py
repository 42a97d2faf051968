"""Pages for people: the start page, the guides, the icon, and the page for unknown paths."""

from functools import cache
from html import escape
from importlib import resources
from urllib.parse import urlsplit

from retinue import __version__
from retinue.kit.context import Context
from retinue.kit.errors import NotFound
from retinue.kit.http import guides
from retinue.kit.http.replies import HttpResponse, Reply, WebDocument, render_response
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.settings import Settings

routes = Routes("", tag="discovery")

_ICONS = {"favicon.svg": "image/svg+xml", "favicon.ico": "image/vnd.microsoft.icon"}
_CACHE_ONE_DAY = (("Cache-Control", "public, max-age=86400"),)
_GUIDES = """<li><a href="{base}/docs/guides">Guides</a>
          <span>How each part works, with commands to copy</span></li>
        """
_MAX_SHOWN_PATH_LENGTH = 200


def start_page(settings: Settings) -> WebDocument:
    """Return the page with links to the documentation and the API reference."""
    base = base_path(settings)
    page = _asset("home.html").format(
        base=base,
        url=escape(settings.base_url),
        version=escape(__version__),
        guides=_GUIDES.format(base=base) if guides.docs_folder() else "",
    )
    return WebDocument(page.encode())


@routes.get("/favicon.svg", requires=PUBLIC, cost="free")
async def get_vector_icon(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the icon of the site as an SVG image."""
    return _icon("favicon.svg")


@routes.get("/favicon.ico", requires=PUBLIC, cost="free")
async def get_icon(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the icon of the site in the ICO format, for browsers without SVG support."""
    return _icon("favicon.ico")


@routes.get("/docs/guides", requires=PUBLIC, cost="free")
async def list_guides(ctx: Context) -> WebDocument:
    """Return a page that lists the guides of this release."""
    return guides.guide_index(base_path(ctx.instance.settings))


@routes.get("/docs/{folder}/{page}", requires=PUBLIC, cost="free", errors=(NotFound,))
async def get_guide(ctx: Context, folder: str, page: str) -> WebDocument:
    """Return a guide, reference page or decision record of this release as an HTML page.

    `guides/index.json` lists the guides with their titles as JSON.
    """
    if (folder, page) == ("reference", "openapi.json"):
        return WebDocument(ctx.instance.openapi(), "application/json")
    if (folder, page) == ("guides", "index.json"):
        return guides.guide_list()
    return guides.document(folder, page, base_path(ctx.instance.settings))


@routes.get("/README.md", requires=PUBLIC, cost="free", errors=(NotFound,))
async def get_readme(ctx: Context) -> WebDocument:
    """Return the project's README, with the quick start, as an HTML page."""
    return guides.readme(base_path(ctx.instance.settings))


def wants_page(request: Request) -> bool:
    """Return whether the request is a browser navigation outside the API, which gets an HTML page."""
    is_api = request.path.startswith(("/api/", "/v1/"))
    return not is_api and request.method in {"GET", "HEAD"} and "text/html" in request.header(b"accept")


def not_found_page(request: Request, settings: Settings) -> HttpResponse:
    """Return a page for an unknown path, with links to the start page and the reference."""
    path = escape(request.path[:_MAX_SHOWN_PATH_LENGTH])
    page = _asset("not-found.html").format(base=base_path(settings), path=path)
    return render_response(Reply(WebDocument(page.encode()), status=404), 404, wrap=False)


def base_path(settings: Settings) -> str:
    """Return the path under which a proxy publishes this server, without a trailing slash."""
    return escape(urlsplit(settings.base_url).path.rstrip("/"))


def _icon(name: str) -> Reply[WebDocument]:
    content = resources.files("retinue.kit.http").joinpath("assets", name).read_bytes()
    return Reply(WebDocument(content, _ICONS[name]), headers=_CACHE_ONE_DAY)


@cache
def _asset(name: str) -> str:
    return resources.files("retinue.kit.http").joinpath("assets", name).read_text("utf-8")
