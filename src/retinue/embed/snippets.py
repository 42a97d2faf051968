"""HTML snippets that add an agent to a page."""

from html import escape
from urllib.parse import quote

from retinue.agents.models import Agent
from retinue.embed.schemas import Snippet
from retinue.kit.context import Context

_KEY = "YOUR_EMBED_KEY"


def snippet(ctx: Context, agent: Agent) -> Snippet:
    """Return the snippets; the agent's name is left out of the tags, so that it cannot inject code."""
    base = ctx.settings.base_url
    widget_url = f"{base}/embed/widget.js"
    page_url = f"{base}/embed/{quote(agent.id, safe='')}?api_key={_KEY}"
    return Snippet(
        embed_code=(
            f'<script src="{escape(widget_url)}" data-agent-id="{escape(agent.id)}" '
            f'data-api-key="{_KEY}" async></script>'
        ),
        agent_id=agent.id,
        agent_name=agent.name,
        iframe_code=(
            f'<iframe src="{escape(page_url)}" title="Chat" width="400" height="600" '
            'style="border:0" loading="lazy"></iframe>'
        ),
        widget_url=widget_url,
    )
