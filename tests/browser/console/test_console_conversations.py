"""Conversations in the console: filters, saved views, export, one of them, the log of an agent, traces."""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server, refusing
from tests.browser.console.steps import AGENTS, LOOKS, agent_with_tool, axe, open_page
from tests.tools.servers.rest_api import rest_api

# It covers parts of what is behind it, which no rule about sizes is meant for.
OPEN_LAYER = ".mantine-Popover-dropdown"


BAD = {"rating": "negative", "reasons": ["wrong"], "comment": "It is another lamp."}


@pytest.fixture
async def talks(site):
    """An agent that answered well, was rated badly, and failed: its id, and the conversations by title."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, _ = await agent_with_tool(site, provider, f"{remote.url}/refunds")
        chat = f"{AGENTS}/{agent_id}/chat"
        made = {}
        for title in ("Where is my lamp?", "Is it too dark?"):
            provider.says(f"About: {title}")
            reply = await site.call("POST", chat, {"message": title})
            made[title] = reply["conversation_id"]
        rated = f"{AGENTS}/{agent_id}/messages/{reply['message']['id']}/feedback"
        await site.call("POST", rated, BAD)
        provider.fails(refusing(400))
        status, _ = await site.answer("POST", chat, {"message": "Why does it flicker?"})
        assert status >= 400
        yield agent_id, made


async def fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


def rows(page):
    return page.get_by_role("table", name="Conversations").get_by_role("row")


async def test_filters_stand_in_the_address_and_are_kept_as_a_view(site, page, talks):
    agent_id, _ = talks
    await open_page(site, page, f"/conversations?agent={agent_id}")
    await expect(rows(page)).to_have_count(4)
    await page.get_by_text("Needs a look").click()
    await expect(rows(page)).to_have_count(3)
    await page.get_by_role("combobox", name="Rating").click()
    await page.get_by_role("option", name="negative").click()
    await expect(rows(page)).to_have_count(2)
    await expect(page).to_have_url(re.compile("show=look.*rating=negative"))
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("textbox", name="Name of the view").fill("Rated badly")
    await page.get_by_role("button", name="Save").click()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Remove the filter Rating").click()
    await expect(rows(page)).to_have_count(3)
    await page.reload()
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("link", name="Rated badly").click()
    await expect(rows(page)).to_have_count(2)
    await page.get_by_role("button", name="Rated badly").click()
    await page.get_by_role("button", name="Rename the view Rated badly").click()
    await page.get_by_role("textbox", name="Name of the view").fill("Bad ones")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Delete the view Bad ones").click()
    await expect(page.get_by_role("link", name="Bad ones")).to_have_count(0)


async def test_days_cost_and_version_narrow_the_list(site, page, talks):
    agent_id, _ = talks
    await open_page(site, page, f"/conversations?agent={agent_id}")
    await page.get_by_role("button", name="Last message", exact=True).click()
    await page.get_by_role("radio", name="7 days").click()
    await expect(page).to_have_url(re.compile("period=7d"))
    await expect(rows(page)).to_have_count(4)
    await page.get_by_role("button", name="Last message 7 days").click()
    await page.get_by_label("To", exact=True).fill("2020-01-01")
    await page.get_by_role("button", name="Apply").click()
    await page.get_by_role("heading", name="Nothing found").wait_for()
    await page.get_by_role("button", name="Remove the filter Last message").click()
    await page.get_by_role("button", name="Version", exact=True).click()
    await page.get_by_role("textbox", name="Version").fill("2")
    await page.get_by_role("button", name="Apply").click()
    await expect(page).to_have_url(re.compile("version=2"))
    await expect(rows(page)).to_have_count(3)
    await page.get_by_role("button", name="Cost", exact=True).click()
    await page.get_by_role("textbox", name="at least").fill("5")
    await page.get_by_role("button", name="Apply").click()
    await page.get_by_role("heading", name="Nothing found").wait_for()
    await page.get_by_role("button", name="Clear filters").click()
    await expect(page).to_have_url(re.compile("/conversations$"))


async def test_the_listed_conversations_are_exported_with_their_messages(site, page, talks):
    agent_id, made = talks
    await open_page(site, page, f"/conversations?agent={agent_id}&outcome=fine")
    async with page.expect_download() as saved:
        await page.get_by_role("button", name="Export 2 conversations").click()
    download = await saved.value
    assert re.fullmatch(r"conversations-\d{4}-\d\d-\d\d\.jsonl", download.suggested_filename)
    lines = [json.loads(line) for line in Path(await download.path()).read_text("utf-8").splitlines()]
    assert [line["conversation"]["id"] for line in lines] == list(made.values())
    assert [len(line["messages"]) for line in lines] == [2, 2]


async def test_a_conversation_is_renamed_closed_exported_and_deleted(site, page, talks):
    _, made = talks
    conversation_id = made["Where is my lamp?"]
    path = f"/api/v1/conversations/{conversation_id}"
    await site.call("PUT", f"{path}/share", {"audience": "organization"})
    await open_page(site, page, f"/conversations/{conversation_id}")
    facts = page.get_by_role("region", name="Transcript").locator("dl")
    await expect(facts.get_by_role("link", name="2", exact=True)).to_be_visible()
    await facts.get_by_role("button", name="End sharing").click()
    await expect(facts.get_by_text("Shared")).to_have_count(0)
    menu = page.get_by_role("button", name="More actions")
    await menu.click()
    await page.get_by_role("menuitem", name="Rename").click()
    await page.get_by_role("dialog").get_by_label("Title").fill("The lamp")
    await page.get_by_role("button", name="Rename", exact=True).click()
    await page.get_by_role("heading", name="The lamp", level=1).wait_for()
    await menu.click()
    await page.get_by_role("menuitem", name="Close conversation").click()
    await expect(facts.get_by_text("Closed")).to_be_visible()
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as saved:
        await page.get_by_role("menuitem", name="JSON").click()
    assert (await saved.value).suggested_filename == f"{conversation_id}.json"
    await menu.click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await page.get_by_role("heading", name="Conversations", level=1).wait_for()
    assert (await site.answer("GET", path))[0] == 404


async def test_whoever_mends_the_agent_reads_why_a_reply_was_rated_badly(site, page, talks):
    _, made = talks
    await open_page(site, page, f"/conversations/{made['Is it too dark?']}")
    transcript = page.get_by_role("region", name="Transcript")
    await transcript.get_by_text("Rated bad. Not true.").wait_for()
    await transcript.get_by_text("“It is another lamp.”").wait_for()
    assert await axe(page) == []


async def test_the_log_of_an_agent_is_found_from_its_menu_and_the_palette(site, page, talks):
    agent_id, _ = talks
    name = f"Lamps {agent_id[-8:]}"
    await site.call("PUT", f"{AGENTS}/{agent_id}", {"name": name})
    await open_page(site, page, f"/agents?search={name}")
    await page.get_by_role("button", name=re.compile("Actions")).first.click()
    await page.get_by_role("menuitem", name="Chat log").click()
    log = page.get_by_role("region", name="Log")
    await expect(log.get_by_role("row")).to_have_count(4)
    await log.get_by_role("textbox").fill("too dark")
    await expect(log.get_by_role("row")).to_have_count(2)
    await page.get_by_role("link", name="Build").click()
    await page.keyboard.press("Control+k")
    await page.get_by_role("textbox", name=re.compile("Find|Search")).last.fill("log of this")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(f"/agents/{agent_id}/log$"))
    await page.goto(f"{site.url}/console/agents/{agent_id}/statistics?status=failed")
    await expect(page).to_have_url(re.compile("/log\\?status=failed"))
    await expect(log.get_by_role("row")).to_have_count(2)


async def test_traces_are_listed_filtered_opened_and_downloaded(site, page, talks):
    agent_id, _ = talks
    await open_page(site, page, "/conversations")
    await page.get_by_role("link", name="Traces").click()
    table = page.get_by_role("table", name="Traces")
    await table.wait_for()
    await page.goto(f"{site.url}/console/traces?agent={agent_id}")
    await expect(table.get_by_role("row")).to_have_count(4)
    await page.get_by_text("Needs a look").click()
    await expect(table.get_by_role("row")).to_have_count(2)
    await page.get_by_role("combobox", name="Order").click()
    await page.get_by_role("option", name="slowest first").click()
    await expect(page).to_have_url(re.compile("sort=slowest"))
    await table.get_by_role("link").first.click()
    async with page.expect_download() as saved:
        await page.get_by_role("button", name="Download (OTLP)").click()
    download = await saved.value
    assert json.loads(Path(await download.path()).read_text("utf-8"))["resourceSpans"]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_lists_are_accessible_with_their_filters_open(site, page, talks, scheme, width):
    agent_id, _ = talks
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/conversations?agent={agent_id}&period=7d&rating=negative")
    await rows(page).nth(1).wait_for()
    await expect(page.get_by_role("combobox", name="Agent: ")).to_be_visible()
    assert await axe(page) == []
    assert await fits(page)
    await page.get_by_role("combobox", name="Agent: ").click()
    await page.get_by_role("textbox", name="Find an agent").wait_for()
    assert await axe(page, OPEN_LAYER) == []
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("textbox", name="Name of the view").wait_for()
    assert await axe(page, OPEN_LAYER) == []
    for path in (f"/traces?agent={agent_id}", f"/agents/{agent_id}/log"):
        await page.goto(f"{site.url}/console{path}")
        await page.get_by_role("row").nth(1).wait_for()
        assert await axe(page) == [], path
        assert await fits(page), path
