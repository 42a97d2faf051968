"""The chat widget: the files of `assets` joined into one script with its own scope."""

from functools import cache
from html import escape
from importlib import resources

from retinue.agents.models import Agent
from retinue.embed.origins import ANY_ORIGIN
from retinue.kit.http.page_scripts import PageScript, join_script

PARTS = (
    "words.js",
    "colours.js",
    "drawing.js",
    "event_stream.js",
    "markdown.js",
    "talking.js",
    "recovery.js",
    "unsent.js",
    "settings.js",
    "messages.js",
    "attachments.js",
    "element.js",
    "start.js",
)
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<body>
<script src="widget.js" data-agent-id="{agent_id}" data-api-key="{key}" data-agent-name="{title}"
  data-inline></script>
"""
# The widget in a page that shows what its owner is choosing, for a frame of the console.
_PREVIEW = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Preview</title>
<body>
<script src="widget.js"></script>
<script src="preview.js"></script>
"""
PREVIEW_POLICY = (
    "default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def preview_page() -> bytes:
    return _PREVIEW


def preview_script() -> bytes:
    return resources.files("retinue.embed").joinpath("assets", "preview.js").read_bytes()


@cache
def script() -> PageScript:
    style = resources.files("retinue.embed").joinpath("assets", "style.css").read_text("utf-8")
    return join_script("retinue.embed", "assets", PARTS, style)


def page(agent: Agent, key: str) -> bytes:
    """Return a page with only the widget, for an iframe."""
    filled = _PAGE.format(agent_id=escape(agent.id), key=escape(key), title=escape(agent.name))
    return filled.encode()


def page_policy(allowed_domains: list[str]) -> str:
    """Return a policy that allows only the widget and its calls, framed by the key's allowed pages."""
    return (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src blob:; base-uri 'none'; "
        f"form-action 'none'; frame-ancestors {' '.join(_ancestors(allowed_domains))}"
    )


def _ancestors(allowed_domains: list[str]) -> list[str]:
    if not allowed_domains or ANY_ORIGIN in allowed_domains:
        return [ANY_ORIGIN]
    # A content security policy cannot express IPv6 addresses.
    named = [entry for entry in allowed_domains if "[" not in entry]
    return [entry if "://" in entry or ":" in entry else f"{entry}:*" for entry in named] or ["'none'"]
