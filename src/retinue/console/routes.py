import secrets
from html import escape

from retinue import __version__
from retinue.console import files
from retinue.kit.context import Context
from retinue.kit.errors import NotFound
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.http.site import base_path, start_page, wants_page

routes = Routes("/console", tag="console")
start_routes = Routes("", tag="discovery")

_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; "
    "font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_PAGE_HEADERS = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Referrer-Policy", "same-origin"),
    ("Permissions-Policy", "microphone=(self)"),
)
_ASSET_HEADERS = (("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding"))
_NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Retinue</title>
<h1>The console is not built</h1>
<p>The server and its API work. There are two ways to get the console:</p>
<ul><li>In a checkout, run <code>make console</code>. It needs the network once.</li>
<li>Install the released package, which carries the built console: <code>pip install retinue</code>.</li></ul>
<p><a href="{base}/docs">API reference</a></p></html>
"""


@start_routes.get("/", requires=PUBLIC, cost="free")
async def get_start_page(ctx: Context, request: Request) -> Reply[WebDocument]:
    """Return the start page, with links to the documentation and the API reference.

    Browsers are redirected to the console.
    """
    settings = ctx.instance.settings
    if wants_page(request) and files.is_built():
        location = (("Location", f"{base_path(settings)}/console/"), ("Vary", "Accept"))
        return Reply(WebDocument(b""), status=302, headers=location)
    return Reply(start_page(settings), headers=(("Vary", "Accept"),))


@routes.get("/assets/{name}", requires=PUBLIC, cost="free", is_documented=False, errors=(NotFound,))
async def get_console_asset(ctx: Context, name: str, request: Request) -> Reply[WebDocument]:  # noqa: ARG001
    """Return a file of the console. Its name contains a hash of its content."""
    asset = files.find_asset(name, request.header(b"accept-encoding"))
    if asset is None:
        raise NotFound
    encoding = (("Content-Encoding", asset.encoding),) if asset.encoding else ()
    document = WebDocument(asset.content, asset.mime_type, "default-src 'none'")
    return Reply(document, headers=(*_ASSET_HEADERS, *encoding))


@routes.get("", requires=PUBLIC, cost="free", is_documented=False)
async def redirect_to_console(ctx: Context) -> Reply[WebDocument]:
    """Redirect to the console's first page."""
    location = f"{base_path(ctx.instance.settings)}/console/"
    return Reply(WebDocument(b""), status=302, headers=(("Location", location),))


@routes.get("/", requires=PUBLIC, cost="free", is_documented=False)
async def get_console(ctx: Context) -> Reply[WebDocument]:
    """Return the page that starts the console."""
    return _index(ctx)


@routes.get("/{path...}", requires=PUBLIC, cost="free", is_documented=False)
async def get_console_page(ctx: Context) -> Reply[WebDocument]:
    """Return the same page for every address inside the console."""
    return _index(ctx)


def _index(ctx: Context) -> Reply[WebDocument]:
    settings = ctx.instance.settings
    base, index = base_path(settings), files.read_index()
    if index is None:
        missing = WebDocument(_NOT_BUILT.format(base=base).encode())
        return Reply(missing, status=503, headers=(("Cache-Control", "no-store"),))
    nonce = secrets.token_urlsafe(16)
    page = (
        index.replace("__NONCE__", nonce)
        .replace("__BASE__", base)
        .replace("__VERSION__", escape(__version__))
        .replace('"./', f'"{base}/console/')
    )
    return Reply(WebDocument(page.encode(), policy=_POLICY.format(nonce=nonce)), headers=_PAGE_HEADERS)
