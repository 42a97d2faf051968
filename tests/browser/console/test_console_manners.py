"""Small things that every screen of the console does alike: lists in popovers, words as tags, tooltips."""

import re

from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.build_page import talker
from tests.browser.console.steps import AGENTS, agent_that_asks_first, axe, open_page
from tests.tools.servers.rest_api import rest_api


async def test_escape_closes_the_list_within_a_popover_and_then_the_popover(site, page):
    await open_page(site, page, "/settings/people")
    await page.get_by_role("button", name="Invite", exact=True).click()
    emails = page.get_by_label("Email")
    await emails.fill("ines@halden.example")
    role = page.get_by_role("combobox", name="Role").last
    await role.click()
    await page.get_by_role("option").first.wait_for()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("option")).to_have_count(0)
    await expect(emails).to_have_value("ines@halden.example")
    await page.keyboard.press("Escape")
    await expect(emails).to_have_count(0)


async def test_a_word_of_a_list_is_taken_away_by_a_button_with_a_name(site, page):
    async with talker(site) as (agent_id, _, _):
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"starters": ["Which bulb?", "Does it hum?"]})
        await open_page(site, page, f"/agents/{agent_id}")
        await page.get_by_role("button", name="Remove Which bulb?").click()
        await expect(page.get_by_role("button", name="Remove Which bulb?")).to_have_count(0)
        await page.get_by_role("button", name="Remove Does it hum?").wait_for()
        assert await axe(page) == []


async def test_a_tooltip_goes_when_its_button_is_pressed(site, page):
    await page.set_viewport_size({"width": 900, "height": 900})
    await open_page(site, page, "/")
    entry = page.get_by_role("link", name="Agents").first
    await entry.hover()
    await page.get_by_role("tooltip").first.wait_for()
    await entry.click()
    await expect(page.get_by_role("tooltip")).to_have_count(0)


async def test_a_run_of_a_tool_that_asks_first_says_that_it_does_not_ask(site, page):
    async with provider_server() as provider, rest_api() as remote:
        agent_id, _ = await agent_that_asks_first(site, provider, f"{remote.url}/refunds")
        (attached,) = (await site.call("GET", f"/v1/agents/{agent_id}/tools"))["data"]
        await open_page(site, page, f"/tools/{attached['tool_id']}")
        await page.get_by_text("A run from here happens at once.").wait_for()
        await page.get_by_role("button", name=re.compile("Run now, without asking")).wait_for()
        assert await axe(page) == []
