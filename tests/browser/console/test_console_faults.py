"""Questions that get no answer: the server goes, the connection breaks, the provider fails."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.console.build_page import instructions, say, talker
from tests.browser.console.steps import AGENTS, axe, open_page
from tests.browser.mortal import RECOVERY_MS, WORDS, connect_by_cable, kill, mortal_site, speak_and_wait
from tests.browser.site import Site

GONE = "The server does not answer. What you write stays here"


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[Site]:
    """A server of this test's own, to be killed and started again."""
    async with mortal_site(tmp_path) as site:
        yield site


async def open_agent(site: Site, page: Page, agent_id: str) -> None:
    """Open the agent and wait until every part of its page is there."""
    await open_page(site, page, f"/agents/{agent_id}")
    await instructions(page).wait_for()
    await field(page).wait_for()


def field(page: Page):
    return page.get_by_label("Say something")


async def test_a_question_to_a_server_that_is_gone_is_put_back_and_asked_once_more(mortal, page):
    async with talker(mortal) as (agent_id, _, provider):
        await open_agent(mortal, page, agent_id)
        log = page.get_by_role("log")
        await kill(mortal)
        await say(page, "Where is it?")
        await log.get_by_role("alert").get_by_text("The server did not answer.").wait_for()
        await expect(field(page)).to_have_value("Where is it?")
        await page.get_by_text(GONE).wait_for()
        assert await axe(page) == []
        # Whoever goes on writing keeps both.
        await field(page).fill("Where is it?\nIt was order 7.")
        await mortal.server.start()
        await expect(page.get_by_text(GONE)).to_have_count(0, timeout=RECOVERY_MS)
        await page.reload()
        await expect(field(page)).to_have_value("Where is it?\nIt was order 7.")
        # Why it was put back is still said.
        await log.get_by_role("alert").get_by_text("The server did not answer.").wait_for()
        await expect(log.get_by_role("button", name="Try again")).to_be_visible()
        provider.says("On its way.")
        await field(page).press("Enter")
        await log.get_by_text("On its way.").wait_for()
        await expect(field(page)).to_have_value("")
        await page.reload()
        await log.get_by_text("On its way.").wait_for()
        await expect(field(page)).to_have_value("")
        await kill(mortal)
        await say(page, "And the other one?")
        await log.get_by_role("button", name="Try again").wait_for()
        await mortal.server.start()
        await expect(page.get_by_text(GONE)).to_have_count(0, timeout=RECOVERY_MS)
        provider.says("Tomorrow.")
        await log.get_by_role("button", name="Try again").click()
        await log.get_by_text("Tomorrow.").wait_for()
        await expect(log.get_by_text("And the other one?")).to_have_count(1)
        await expect(log.get_by_role("alert")).to_have_count(0)


async def test_half_an_answer_stays_says_that_it_is_one_and_survives_a_reload(mortal, page):
    async with talker(mortal) as (agent_id, _, provider):
        await open_agent(mortal, page, agent_id)
        log = page.get_by_role("log")
        provider.fails(speak_and_wait(WORDS, asyncio.Event()))
        await say(page, "Count")
        await log.get_by_text("word0 word1").wait_for()
        await kill(mortal)
        await log.get_by_text("The connection is lost.").wait_for()
        await expect(log.get_by_text("word0 word1")).to_be_visible()
        await mortal.server.start()
        cut = log.get_by_role("alert").get_by_text("The answer was cut off")
        for _ in range(2):
            await cut.wait_for()
            await expect(log.get_by_text("word0 word1")).to_be_visible()
            await expect(log.get_by_text("Count")).to_have_count(1)
            await expect(field(page)).to_have_value("Count")
            await expect(log.get_by_text("did not answer")).to_have_count(0)
            assert await axe(page) == []
            await page.reload()
        await cut.wait_for()
        provider.says("One, two, three.")
        await log.get_by_role("button", name="Try again").click()
        await log.get_by_text("One, two, three.").wait_for()
        await expect(field(page)).to_have_value("")


async def test_a_reply_that_ended_while_the_connection_was_broken_is_not_asked_for_twice(site, page):
    async with talker(site) as (agent_id, _, provider), connect_by_cable(site) as (outside, cable):
        await open_agent(outside, page, agent_id)
        gate = asyncio.Event()
        provider.fails(speak_and_wait(WORDS, gate))
        await say(page, "Count")
        log = page.get_by_role("log")
        await log.get_by_text("word0 word1").wait_for()
        await cable.pull()
        await log.get_by_text("The connection is lost.").wait_for()
        gate.set()
        await cable.plug_in()
        await log.get_by_text("word79").wait_for()
        await expect(log.get_by_role("alert")).to_have_count(0)
        await expect(log.get_by_text("The connection is lost.")).to_have_count(0)
        await expect(page.get_by_text(GONE)).to_have_count(0, timeout=RECOVERY_MS)
        await expect(field(page)).to_have_value("")
        assert len(provider.requests) == 1


async def test_a_provider_that_breaks_off_is_not_one_that_did_not_answer(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_agent(site, page, agent_id)
        log = page.get_by_role("log")
        provider.fails(speak_and_wait(WORDS, is_cut=True))
        await say(page, "Count")
        await log.get_by_role("alert").get_by_text("The answer was cut off").wait_for()
        await expect(log.get_by_text("did not answer")).to_have_count(0)
        await expect(log.get_by_text("word0 word1")).to_be_visible()
        await expect(field(page)).to_have_value("Count")
        provider.says("One, two, three.")
        await log.get_by_role("button", name="Try again").click()
        await log.get_by_text("One, two, three.").wait_for()


async def test_files_of_an_unsent_question_come_back_after_a_reload(mortal, page):
    async with talker(mortal) as (agent_id, _, provider):
        await open_agent(mortal, page, agent_id)
        note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Order 7 is late."}
        await page.locator("input[type=file]").set_input_files([note])
        files = page.get_by_role("list", name="Attached files")
        await expect(files.get_by_role("progressbar")).to_have_count(0)
        await kill(mortal)
        await say(page, "Read it")
        await page.get_by_role("log").get_by_role("button", name="Try again").wait_for()
        await mortal.server.start()
        await page.reload()
        await expect(field(page)).to_have_value("Read it")
        await expect(files.last.get_by_text("note.txt")).to_be_visible()
        provider.says("It is late.")
        await field(page).press("Enter")
        await page.get_by_role("log").get_by_text("It is late.").wait_for()
        assert "Order 7 is late." in provider.last.body.decode()


async def test_a_question_that_is_discarded_on_its_way_does_not_come_back(site, page):
    async with talker(site) as (agent_id, _, _):
        await open_agent(site, page, agent_id)
        questions = "**/chat/stream*"
        await page.route(questions, lambda _: None)
        async with page.expect_request(questions):
            await say(page, "Where is it?")
        await page.get_by_role("button", name="New conversation").click()
        await expect(page.get_by_role("log").get_by_text("Where is it?")).to_have_count(0)
        await page.unroute(questions)
        await page.reload()
        await instructions(page).wait_for()
        await expect(field(page)).to_have_value("")


async def test_columns_that_got_no_answer_are_asked_once_more(mortal, page):
    async with talker(mortal) as (agent_id, _, provider):
        await mortal.call("PUT", f"{AGENTS}/{agent_id}", {"system_prompt": "You help more."})
        await open_page(mortal, page, f"/agents/{agent_id}/compare")
        composer = page.get_by_label("Ask all columns")
        await composer.wait_for()
        await kill(mortal)
        await composer.fill("Which?")
        await composer.press("Enter")
        await expect(page.get_by_role("button", name="Try again")).to_have_count(2)
        await expect(composer).to_have_value("Which?")
        await mortal.server.start()
        await page.reload()
        await expect(composer).to_have_value("Which?")
        provider.says("This.")
        provider.says("This.")
        await composer.press("Enter")
        await expect(page.get_by_text("This.", exact=True)).to_have_count(2)
        await expect(composer).to_have_value("")


async def test_a_spent_budget_is_said_in_its_reply_and_nowhere_else(site, page):
    async with talker(site) as (agent_id, _, provider):
        provider.says("One.")
        await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "First"})
        scope = {"type": "agent", "id": agent_id}
        spent = {"scope": scope, "period": "month", "limit_tokens": 1, "action": "block"}
        made = await site.call("POST", "/api/v1/budgets", spent)
        await open_agent(site, page, agent_id)
        await say(page, "Second")
        refused = page.get_by_role("log").get_by_role("alert")
        await refused.get_by_text("The budget of this agent of 1 token is used up.").wait_for()
        await expect(field(page)).to_have_value("Second")
        strip = page.get_by_text("Your organization has used up its requests")
        await expect(strip).to_have_count(0)
        await expect(page.get_by_text("1 / 1", exact=True)).to_have_count(0)
        assert await axe(page) == []
        await refused.get_by_role("link", name="Open the budget").click()
        await page.get_by_text("100%").or_(page.get_by_text("Block")).first.wait_for()
        await page.get_by_role("link", name="Agents").first.click()
        await page.get_by_role("heading", name="Agents", exact=True).wait_for()
        await expect(strip).to_have_count(0)
        await site.call("DELETE", f"/api/v1/budgets/{made['id']}")
