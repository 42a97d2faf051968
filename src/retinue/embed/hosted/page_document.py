"""The documents of a hosted page: its HTML, its manifest and icon for phones, its policy."""

from functools import cache
from html import escape
from importlib import resources

import msgspec

from retinue.embed.hosted.page_models import HostedPage, PageAudience
from retinue.embed.hosted.public_pages import OpenPage
from retinue.embed.schemas import WidgetSettings
from retinue.kit.http.page_scripts import PageScript, find_script
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.network_addresses import policy_sources

NOT_KEPT = (("Cache-Control", "no-store"),)
PREVIEW_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src https:; "
    "base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_ICON_COLOUR, _ICON_INK = "#24211d", "#ffffff"
_MISSING_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"


def hosted_script() -> PageScript | None:
    return find_script("hosted.js")


def display_font() -> PageScript | None:
    return find_script("display.woff2")


def style_sheet() -> WebDocument:
    return WebDocument(_template("hosted.css").encode(), "text/css; charset=utf-8")


def render_page(
    page: HostedPage, name: str, script: PageScript, settings: WidgetSettings
) -> Reply[WebDocument]:
    """Return the page. The script draws the chat; the markup is what browsers without scripts show."""
    content = _template("page.html").format(
        name=escape(name),
        slug=escape(page.slug),
        version=script.version,
        colour=settings.accent or _ICON_COLOUR,
    )
    return Reply(WebDocument(content.encode(), policy=_policy(settings.logo_url)), headers=NOT_KEPT)


def render_preview() -> Reply[WebDocument]:
    """Return the page in which the console shows a design; it knows no agent and no key."""
    return Reply(WebDocument(_template("preview.html").encode(), policy=PREVIEW_POLICY), headers=NOT_KEPT)


def render_not_found() -> Reply[WebDocument]:
    content = _template("missing.html").encode()
    return Reply(WebDocument(content, policy=_MISSING_POLICY), status=404, headers=NOT_KEPT)


def render_manifest(opened: OpenPage, name: str, settings: WidgetSettings) -> Reply[WebDocument]:
    """Return what a phone needs to install the page."""
    manifest = {
        "id": f"../{opened.page.slug}",
        "name": name,
        "short_name": name[:30],
        "start_url": f"../{opened.page.slug}",
        "scope": f"../{opened.page.slug}",
        "display": "standalone",
        "theme_color": settings.accent or _ICON_COLOUR,
        "background_color": "#fdfcfb",
        "icons": [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any maskable"}],
    }
    document = WebDocument(msgspec.json.encode(manifest), "application/manifest+json", _MISSING_POLICY)
    return Reply(document, headers=NOT_KEPT)


def render_icon(settings: WidgetSettings) -> Reply[WebDocument]:
    """Return the icon of an installed page, in the colours of the agent's widget."""
    ink = (settings.on_accent or _ICON_INK) if settings.accent else _ICON_INK
    content = _template("icon.svg").format(colour=settings.accent or _ICON_COLOUR, ink=ink)
    return Reply(WebDocument(content.encode(), "image/svg+xml", _MISSING_POLICY), headers=NOT_KEPT)


def shown_name(opened: OpenPage, settings: WidgetSettings) -> str:
    """Return the name that anybody may read; a page for members has none before they sign in."""
    if opened.page.audience is PageAudience.members:
        return "Chat"
    return settings.title or opened.agent.name


def shown_look(opened: OpenPage, settings: WidgetSettings) -> WidgetSettings:
    """Return the look that anybody may see; that of a page for members is plain."""
    return WidgetSettings() if opened.page.audience is PageAudience.members else settings


def _policy(logo_url: str | None) -> str:
    """Allow only the script, its requests, previews of files and the logo."""
    images = " ".join(["'self'", "blob:", *policy_sources(logo_url)])
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
        f"manifest-src 'self'; img-src {images}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


@cache
def _template(name: str) -> str:
    return resources.files("retinue.embed.hosted").joinpath("assets", name).read_text("utf-8")
