"""The chat widget: its script, and the pages that show nothing else."""

from html import escape

from retinue.agents.models import Agent
from retinue.embed.origins import ANY_ORIGIN
from retinue.kit.http.page_scripts import PageScript, find_script

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


def preview_script() -> PageScript | None:
    return find_script("preview.js")


def script() -> PageScript | None:
    return find_script("widget.js")


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
