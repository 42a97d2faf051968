"""Everyday use of the console: tables in replies, titles at 200 % zoom, words for codes, decided requests."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import (
    AGENTS,
    agent_that_asks_first,
    agent_with_tool,
    axe,
    open_page,
    waiting_approval,
)
from tests.browser.console.world import world_of
from tests.browser.widgets import widget_tag
from tests.tools.servers.rest_api import rest_api

TABLE = """| Lieferzustandsbezeichnung | Bestellmenge | Rechnungsgesamtbetrag | Ansprechpartnerin | Notiz |
|---|:---:|---:|:---|---|
| Zustellungsbenachrichtigung | 3 | 1.204,50 | Maximiliane Mustermann | Wird am Freitag erneut zugestellt |
| Abholbereit | 12 | 9,00 | Ada | keine |
"""
# A word is broken if its letters stand on two lines.
_SHAPE = """(table) => {
  const broken = [];
  for (const cell of table.querySelectorAll("th, td")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const word of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((one) => Math.round(one.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
  }
  const box = table.parentElement;
  const aligned = (cells) =>
    [...table.querySelectorAll(cells)].map((cell) => getComputedStyle(cell).textAlign);
  return { broken, head: aligned("th"), row: aligned("tbody tr:first-child td"),
    scrolls: box.scrollWidth > box.clientWidth, fits: box.getBoundingClientRect().right <= innerWidth };
}"""
ALIGNED = ["start", "center", "end", "start", "start"]


async def shape_of(table: Any) -> dict[str, Any]:
    await table.wait_for()
    return await table.evaluate(_SHAPE)


@pytest.mark.parametrize("width", [1440, 390])
async def test_a_table_in_a_reply_keeps_its_words_and_its_columns(site, page, width):
    async with provider_server() as provider, rest_api() as remote:
        agent_id, _ = await agent_with_tool(site, provider, remote.url)
        provider.says(TABLE)
        await page.set_viewport_size({"width": width, "height": 844})
        await open_page(site, page, f"/agents/{agent_id}")
        if width == 390:
            await page.get_by_text("Try", exact=True).click()
        await page.get_by_label("Say something").fill("How are the orders?")
        await page.keyboard.press("Enter")
        shape = await shape_of(page.get_by_role("log").get_by_role("table"))
        assert (shape["broken"], shape["fits"], shape["scrolls"]) == ([], True, True)
        assert (shape["head"], shape["row"]) == (ALIGNED, ALIGNED)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        assert await axe(page) == []


async def test_a_table_in_the_widget_keeps_its_words_and_its_columns(site, other_site, page):
    async with provider_server() as provider:
        tag = await widget_tag(site, provider)
        policy = f"default-src 'none'; script-src {site.url}; connect-src {site.url}"
        await page.goto(other_site.publish("table", tag, policy))
        await page.get_by_role("button", name="Open Help desk").click()
        provider.says(TABLE)
        await page.get_by_role("button", name="Where is it?").click()
        shape = await shape_of(page.get_by_role("log").get_by_role("table"))
        assert (shape["broken"], shape["fits"], shape["scrolls"]) == ([], True, True)
        assert (shape["head"], shape["row"]) == (ALIGNED, ALIGNED)


async def test_titles_stay_whole_at_200_percent(site, page):
    """A laptop of 1280 pixels is 640 wide then."""
    await page.set_viewport_size({"width": 640, "height": 420})
    async with provider_server() as provider, world_of(site, provider, "tenant_admin") as world:
        name = f"Reklamationsbearbeitung Nord {world.agent_id[-4:]}"
        await site.call("PUT", f"{AGENTS}/{world.agent_id}", {"name": name})
        await open_page(site, page, "/")
        for path in (*world.screens(), "/settings/service-accounts", f"/agents/{world.agent_id}/statistics"):
            await page.goto(f"{site.url}/console{path}")
            title = page.get_by_role("heading", level=1).first
            await title.wait_for()
            await expect(title).not_to_have_text("…")
            kept = await title.evaluate(
                """(one) => {
                  const box = one.getBoundingClientRect();
                  return one.scrollWidth <= one.clientWidth + 1 && box.width > 30
                    && box.left >= 0 && box.right <= innerWidth + 1;
                }"""
            )
            assert kept, (path, await title.inner_text())
            assert await page.evaluate("document.documentElement.scrollWidth") <= 640, path


async def test_the_profile_names_the_role_and_the_device(site, page):
    await open_page(site, page, "/profile")
    await page.get_by_text("admin@example.com · Super administrator").wait_for()
    await page.get_by_role("region", name="Sessions").get_by_text("Chrome on Linux").first.wait_for()
    text = await page.locator("main").inner_text()
    assert not re.search(r"super_admin|Mozilla/|AppleWebKit", text)


async def test_what_is_decided_leaves_the_inbox_and_the_list(site, page):
    await site.call("POST", "/api/v1/notifications/read-all", {})
    async with provider_server() as provider, rest_api() as remote:
        agent = await agent_that_asks_first(site, provider, f"{remote.url}/refunds")
        id = await waiting_approval(site, provider, agent, 20_777)
        await open_page(site, page, "/inbox")
        row = page.locator(f"main a[href$='approvals?id={id}']")
        await row.click()
        await page.get_by_role("button", name="Reject", exact=False).last.click()
        await page.get_by_text("Rejected. The call does not run").wait_for()
        await expect(page.locator(f"[aria-current='true'][href*='{id}']")).to_have_count(0)
        await page.goto(f"{site.url}/console/inbox")
        await page.get_by_role("heading", name="Inbox").wait_for()
        await expect(row).to_have_count(0)
        await page.get_by_text("All", exact=True).click()
        await row.wait_for()


async def test_the_meter_of_requests_is_quiet_while_there_are_plenty(site, page):
    await open_page(site, page, "/")
    await page.get_by_role("region", name="Today").wait_for()
    await expect(page.get_by_text("Requests this minute")).to_have_count(0)
