"""A widget with a design, whose agent answers with what a provider says."""

from tests.adapters.llm_server import KEY


async def widget_tag(site, provider):
    name = f"m-{provider.url.rpartition(':')[2].partition('/')[0]}"
    key = {"provider": "openai_compatible", "name": name, "api_key": KEY, "base_url": f"{provider.url}/v1"}
    await site.call("POST", "/api/v1/api-keys", {**key, "models": [name]})
    body = {"name": "Clerk", "primary_model": f"openai_compatible/{name}", "system_prompt": "You help."}
    agent = (await site.call("POST", "/api/v1/agents", body))["id"]
    look = {"title": "Help desk", "accent": "#ffd966", "suggestions": ["Where is it?"]}
    await site.call("PUT", f"/api/v1/agents/{agent}/widget", look)
    made = await site.call("POST", "/api/v1/embed/api-keys", {"agent_id": agent, "name": "Page"})
    attributes = f'data-agent-id="{agent}" data-api-key="{made["api_key"]}" data-placeholder="Ask away"'
    return f'<script src="{site.url}/embed/widget.js" {attributes}></script>'
