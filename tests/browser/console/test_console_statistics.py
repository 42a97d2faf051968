"""Statistics of an agent in the console: figures, charts, models and tools, budgets, and the log."""

import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import provider_server, refusing
from tests.browser.console.steps import AGENTS, LOOKS, agent_with_tool, axe, open_page
from tests.tools.servers.rest_api import rest_api


@pytest.fixture
async def agent(site):
    """An agent that has answered twice, once with a tool, and failed once."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, slug = await agent_with_tool(site, provider, f"{remote.url}/refunds")
        path = f"{AGENTS}/{agent_id}/chat"
        provider.says("I look.", Call(slug, '{"order": "10482"}', "call_1"))
        provider.says("It is on its way.")
        first = await site.call("POST", path, {"message": "Where is order 10482?"})
        rating = {"rating": "positive"}
        message = f"{AGENTS}/{agent_id}/messages/{first['message']['id']}/feedback"
        await site.call("POST", message, rating)
        provider.says("You are welcome.")
        again = {"message": "Thank you", "conversation_id": first["conversation_id"]}
        await site.call("POST", path, again)
        provider.fails(refusing(400))
        status, _ = await site.answer("POST", path, {"message": "And order 10483?"})
        assert status >= 400
        yield agent_id, slug


async def test_figures_lead_to_the_conversation_of_a_call(site, page, agent):
    agent_id, slug = agent
    await open_page(site, page, f"/agents/{agent_id}")
    await page.get_by_role("link", name="Statistics").click()
    figures = page.locator("dl").first
    await expect(figures.get_by_text("66.7%")).to_be_visible()
    await expect(figures.get_by_text("1 chat failed")).to_be_visible()
    await expect(figures.get_by_text("1 up, 0 down")).to_be_visible()
    # A model of the operator has no list price, and nothing pretends that it is free.
    await expect(figures.get_by_text("Unknown")).to_be_visible()
    await page.get_by_role("region", name="Models").get_by_text("No price").wait_for()
    tool = page.get_by_role("region", name="Tools").get_by_role("row").filter(has_text=slug)
    await expect(tool).to_contain_text("1")
    chart = page.get_by_role("table", name="Chats")
    await expect(chart.get_by_role("row").last).to_have_text(re.compile(r"21$"))
    await page.get_by_role("link", name="Log", exact=True).click()
    log = page.get_by_role("region", name="Log")
    await expect(log.get_by_role("row")).to_have_count(4)
    await log.get_by_text("Failed", exact=True).first.click()
    await expect(log.get_by_role("row")).to_have_count(2)
    await expect(page).to_have_url(re.compile("status=failed"))
    await log.get_by_text("All", exact=True).click()
    await log.get_by_role("link", name=re.compile("Where is order 10482")).click()
    await page.get_by_role("heading", name="Where is order 10482?").wait_for()
    # Not the last turn of the conversation, but the one of the entry: it asked the model twice.
    await expect(page.get_by_role("button", name=re.compile("Model call"))).to_have_count(2)


async def test_budgets_and_what_the_log_keeps_are_set_here(site, page, agent):
    agent_id, _ = agent
    await open_page(site, page, f"/agents/{agent_id}/statistics?period=24h")
    budgets = page.get_by_role("region", name="Budgets")
    await budgets.get_by_text("no budget of its own").wait_for()
    await budgets.get_by_role("button", name="Add budget").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Limit", exact=True).fill("250")
    await dialog.get_by_text("Tokens").click()
    await dialog.get_by_role("button", name="Save budget").click()
    await expect(budgets.get_by_role("listitem")).to_contain_text("of 250 tokens this month")
    (made,) = (await site.call("GET", f"/api/v1/budgets?scope_type=agent&scope_id={agent_id}"))["data"]
    assert (made["limit_tokens"], made["action"]) == (250, "block")
    await budgets.get_by_role("button", name=re.compile("^Change")).click()
    await dialog.get_by_role("button", name="Remove").click()
    await dialog.get_by_role("button", name="Remove this budget").click()
    await budgets.get_by_text("no budget of its own").wait_for()
    await page.get_by_role("link", name="Log", exact=True).click()
    await page.get_by_role("button", name="Log settings").click()
    await dialog.get_by_role("switch", name="Tool calls").click()
    await dialog.get_by_label("Days until entries are deleted").fill("7")
    await dialog.get_by_role("button", name="Save settings").click()
    await expect(dialog).to_have_count(0)
    kept = await site.call("GET", f"{AGENTS}/{agent_id}/log-settings")
    assert (kept["log_tool_calls"], kept["retention_days"]) == (False, 7)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_screen_is_accessible(site, page, agent, scheme, width):
    agent_id, _ = agent
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/agents/{agent_id}/statistics")
    await page.get_by_role("region", name="Models").wait_for()
    assert await axe(page) == []
    is_wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not await page.evaluate(is_wider)
    await page.goto(f"{site.url}/console/agents/{agent_id}/log")
    await page.get_by_role("region", name="Log").get_by_role("row").nth(3).wait_for()
    assert await axe(page) == []
    assert not await page.evaluate(is_wider)
    await page.get_by_role("button", name="Log settings").click()
    await page.get_by_role("dialog").get_by_text("Tool calls").wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.goto(f"{site.url}/console/agents/{agent_id}/log?search=nowhere")
    await page.get_by_role("heading", name="Nothing found").wait_for()
    assert await axe(page) == []
