"""Conversations and traces in the console: how a reply came about, from the reply and from the list."""

import asyncio
import re
from itertools import pairwise

import pytest
from playwright.async_api import expect

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import AGENTS, agent_with_tool, axe, open_page
from tests.tools.servers.rest_api import rest_api


async def slowly(route):
    await asyncio.sleep(0.6)
    await route.continue_()


def turn(page, number):
    return page.get_by_role("button", name=re.compile(f"^Turn {number}"))


@pytest.fixture
async def agent(site):
    """An agent whose provider says what the test tells it: its id, the slug of its tool, and the provider."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, slug = await agent_with_tool(site, provider, f"{remote.url}/refunds")
        yield agent_id, slug, provider


async def test_a_trace_is_opened_from_a_reply_and_walked_through_by_keyboard(site, page, agent):
    agent_id, slug, provider = agent
    await open_page(site, page, f"/agents/{agent_id}")
    provider.says("Let me look.", Call(slug, '{"order": 7}', "call_1"))
    provider.says("It is late.")
    await page.get_by_label("Say something").fill("Where is order 7?")
    await page.keyboard.press("Enter")
    replies = page.get_by_role("log")
    await replies.get_by_role("button", name="Trace").click()
    await replies.get_by_role("link", name="Open the trace").click()
    await page.get_by_role("heading", level=1, name=re.compile("Turn")).wait_for()
    steps = page.locator("[data-row]")
    await expect(page.get_by_role("button", name=re.compile("Model call"))).to_have_count(2)
    chosen = page.get_by_role("complementary", name="Selected step")
    await chosen.get_by_text("Where is order 7?").wait_for()
    for _ in range(3):
        await page.keyboard.press("j")
    await expect(steps.nth(2)).to_have_attribute("aria-pressed", "true")
    await chosen.get_by_text('"order"').wait_for()
    await page.get_by_role("button", name="Collapse Turn").click()
    await expect(steps).to_have_count(1)
    # The address follows the walk a moment later; a link that was clicked before that is not taken back.
    await page.route("**/conversation-*.js", slowly)
    await page.keyboard.press("k")
    await page.get_by_role("link", name="Conversation", exact=True).click()
    await page.get_by_role("region", name="Transcript").get_by_text("It is late.").wait_for()


async def test_a_conversation_is_found_and_its_turns_open_their_traces(site, page, agent):
    agent_id, slug, provider = agent
    chat = f"{AGENTS}/{agent_id}/chat"
    provider.says("First answer.")
    question = f"Parcel {agent_id[-8:]}"
    reply = await site.call("POST", chat, {"message": question})
    provider.says("", Call(slug, '{"order": 8}', "call_1"))
    provider.says("Second answer.")
    again = {"message": "And now?", "conversation_id": reply["conversation_id"]}
    await site.call("POST", chat, again)
    await open_page(site, page, f"/conversations?agent={agent_id}")
    await page.get_by_role("link", name=re.compile(question)).wait_for()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    transcript = page.get_by_role("region", name="Transcript")
    await transcript.get_by_text("Second answer.").wait_for()
    await expect(turn(page, 2)).to_have_attribute("aria-expanded", "true")
    await expect(page.get_by_role("button", name=re.compile("Model call"))).to_have_count(2)
    await transcript.get_by_role("button", name="Trace").first.click()
    await expect(turn(page, 1)).to_have_attribute("aria-expanded", "true")
    await expect(page.get_by_role("button", name=re.compile("Model call"))).to_have_count(1)
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as saved:
        await page.get_by_role("menuitem", name="Markdown").click()
    assert (await saved.value).suggested_filename == f"{reply['conversation_id']}.md"


async def test_no_time_lies_over_another_in_a_narrow_waterfall(site, page, agent):
    agent_id, slug, provider = agent
    provider.says("", Call(slug, '{"order": 8}', "call_1"))
    provider.says("It is late.")
    reply = await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "Where is it?"})
    await page.set_viewport_size({"width": 1280, "height": 800})
    await open_page(site, page, f"/conversations/{reply['conversation_id']}")
    table = page.get_by_role("table", name="Steps")
    await table.wait_for()
    edges = await table.locator("th:nth-child(2) i").evaluate_all(
        "ticks => ticks.map(tick => tick.getBoundingClientRect()).filter(box => box.width)"
        ".map(box => [box.left, box.right])"
    )
    assert len(edges) >= 2
    assert all(end < begin for (_, end), (begin, _) in pairwise(edges))
    inside = await table.locator("td:nth-child(2) > span").evaluate_all(
        "tracks => tracks.every(track => {"
        " const [own, time] = [track, track.querySelector('em')].map(one => one.getBoundingClientRect());"
        " return own.left <= time.left && time.right <= own.right; })"
    )
    assert inside


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_on_a_conversation_and_its_trace(site, page, agent, scheme):
    agent_id, slug, provider = agent
    provider.says("Let me look.", Call(slug, '{"order": 9}', "call_1"))
    provider.says("It is **late**.")
    reply = await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "Where?"})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/conversations")
    for width in (1440, 1024, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        for path in (f"/conversations/{reply['conversation_id']}", f"/traces/{reply['trace_id']}"):
            await page.goto(f"{site.url}/console{path}")
            await page.get_by_role("button", name=re.compile("Model call")).first.wait_for()
            assert await axe(page) == [], (path, width)
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
    await page.goto(f"{site.url}/console/traces/unknown")
    await page.get_by_text("There is nothing here").wait_for()
