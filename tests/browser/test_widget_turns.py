"""The widget through a whole conversation: an approval on the way, a reload, and sources that open."""

from typing import Any

import pytest
from playwright.async_api import expect

from retinue.chat.engine.parts import Source
from retinue.chat.models import Message
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer
from tests.browser.forms import violations
from tests.browser.site import OtherSite, Site
from tests.e2e.chatting import open_database
from tests.tools.servers.rest_api import rest_api


async def widget_of(site: Site, provider: ProviderServer, tool_url: str) -> tuple[str, str]:
    """The script tag of an agent whose tool needs an approval, and what the model calls the tool."""
    name = f"m-{provider.url.rpartition(':')[2].partition('/')[0]}"
    await site.call(
        "POST",
        "/api/v1/api-keys",
        {
            "provider": "openai_compatible",
            "name": name,
            "api_key": KEY,
            "base_url": f"{provider.url}/v1",
            "models": [name],
        },
    )
    model = f"openai_compatible/{name}"
    agent = await site.call(
        "POST", "/api/v1/agents", {"name": "Clerk", "primary_model": model, "system_prompt": "You help."}
    )
    tool = await site.call(
        "POST",
        "/v1/tools",
        {
            "name": f"Refund {name}",
            "category": "custom",
            "tool_type": "webhook",
            "auth_type": "none",
            "config": {"url": tool_url, "method": "POST"},
            "requires_approval": True,
        },
    )
    await site.call("POST", f"/v1/agents/{agent['id']}/tools", {"tool_id": tool["data"]["id"]})
    key = await site.call("POST", "/api/v1/embed/api-keys", {"agent_id": agent["id"], "name": "Page"})
    attributes = f'data-agent-id="{agent["id"]}" data-api-key="{key["api_key"]}" data-inline'
    tag = f'<script src="{site.url}/embed/widget.js" {attributes}></script>'
    return tag, tool["data"]["slug"]


@pytest.mark.journey
async def test_an_approval_a_reload_and_a_source(
    site: Site, other_site: OtherSite, page: Any, provider: ProviderServer
) -> None:
    async with rest_api() as remote:
        tag, slug = await widget_of(site, provider, f"{remote.url}/refunds")
        url = other_site.publish("turns", tag)
        await page.goto(url)
        provider.says("Let me ask.", Call(slug, '{"amount": 7}', "call_1"))
        await page.get_by_label("Write a message").fill("My money back!")
        await page.get_by_role("button", name="Send").click()
        waiting = page.get_by_text("someone\u2019s approval")
        await waiting.wait_for()
        await page.reload()
        await page.get_by_text("My money back!").wait_for()
        await waiting.wait_for()
        assert await violations(page) == []
        pending = (await site.call("GET", "/api/v1/approvals?status=pending"))["data"][0]
        provider.says("You get it back, as the handbook says [1].")
        await site.call("POST", f"/api/v1/approvals/{pending['id']}/approve", {})
        await page.get_by_text("You get it back").wait_for()
        await expect(waiting).to_have_count(0)

    await _cite(site, pending["source"]["conversation_id"])
    await page.reload()
    source = page.get_by_text("[1] handbook.pdf, page 2")
    await expect(page.get_by_text("You can return an item within 45 days.")).to_be_hidden()
    await source.click()
    await expect(page.get_by_text("You can return an item within 45 days.")).to_be_visible()
    await expect(page.get_by_role("link", name="https://shop.example.com/returns")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_role("button", name="New").click()
    await page.reload()
    await page.get_by_text("Hello! How can I help?").wait_for()
    await expect(page.get_by_text("My money back!")).to_have_count(0)


async def _cite(site: Site, conversation_id: str) -> None:
    """Give the last reply sources, as knowledge would have."""
    async with open_database(site.server) as ctx:
        system = ctx.system("test")
        reply = (await system.all(Message, conversation_id=conversation_id, order_by=("-position",)))[0]
        assert reply.details is not None
        ctx.bind_tenant(reply.tenant_id)
        source = Source(
            document_name="handbook.pdf",
            chunk_preview="You can return an item within 45 days.",
            relevance_score=0.9,
            document_id="doc_1",
            chunk_id="chk_1",
            page=2,
            url="https://shop.example.com/returns",
            index=1,
        )
        await ctx.db.update(reply, details=_with_source(reply.details, source))


def _with_source(details: Any, source: Source) -> Any:
    import msgspec

    return msgspec.structs.replace(details, sources=(source,))
