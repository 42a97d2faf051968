"""A hosted page whose agent answers with what a provider says."""

from typing import Any

from tests.adapters.llm_server import KEY

LOOK = {
    "title": "Brass & Bulb",
    "greeting": "How can we help with your lamp?",
    "lead": "Bulbs, spare parts, wiring, orders.",
    "placeholder": "Ask about your lamp",
    "accent": "#1f5245",
    "second_accent": "#e9b44c",
    "suggestions": ["Which bulb fits?", "Where is my order?"],
    "contact_url": "mailto:help@brass.example",
    "privacy_url": "https://brass.example/privacy",
    "imprint_url": "https://brass.example/imprint",
}


async def hosted_agent(site: Any, provider: Any, name: str = "Lamp desk", **look: Any) -> str:
    """Return an agent with a look."""
    model = f"m-{provider.url.rpartition(':')[2].partition('/')[0]}"
    key = {"provider": "openai_compatible", "name": model, "api_key": KEY, "base_url": f"{provider.url}/v1"}
    await site.call("POST", "/api/v1/api-keys", {**key, "models": [model]})
    body = {"name": name, "primary_model": f"openai_compatible/{model}", "system_prompt": "You help."}
    agent = (await site.call("POST", "/api/v1/agents", {**body, "status": "published"}))["id"]
    await site.call("PUT", f"/api/v1/agents/{agent}/widget", {**LOOK, **look})
    return agent


async def open_hosted_page(site: Any, agent: str, slug: str, **more: Any) -> str:
    """Return the address of the agent's page."""
    body = {"slug": slug, "audience": "public", "monthly_token_budget": 1_000_000, **more}
    return (await site.call("PUT", f"/api/v1/agents/{agent}/page", body))["address"]
