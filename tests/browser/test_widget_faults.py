"""The widget when the service is gone, its connection breaks, or its agent may not answer."""

import asyncio

from playwright.async_api import expect

from tests.adapters.llm_server import provider_server, refusing
from tests.browser.forms import violations
from tests.browser.mortal import RECOVERY_MS, WORDS, connect_by_cable, kill, mortal_site, speak_and_wait
from tests.browser.site import Site
from tests.browser.widgets import widget_tag


async def open_widget(site: Site, other_site, page, provider, name: str) -> None:
    """Open a page of another site, and the widget in it."""
    tag = await widget_tag(site, provider)
    await page.goto(other_site.publish(name, tag))
    await page.get_by_role("button", name="Open Help desk").click()


async def say(page, text: str) -> None:
    await page.get_by_label("Ask away").fill(text)
    await page.keyboard.press("Enter")


async def test_a_message_to_a_service_that_is_gone_is_put_back_and_sent_once_more(tmp_path, other_site, page):
    async with mortal_site(tmp_path) as site, provider_server() as provider:
        await open_widget(site, other_site, page, provider, "gone")
        log, field = page.get_by_role("log"), page.get_by_label("Ask away")
        await kill(site)
        await say(page, "Where is it?")
        await log.get_by_role("alert").wait_for()
        await expect(field).to_have_value("Where is it?")
        await page.get_by_text("The connection is lost.").wait_for()
        assert await violations(page) == []
        await field.fill("Where is order 7?")
        await site.server.start()
        await expect(page.get_by_text("The connection is lost.")).to_have_count(0, timeout=RECOVERY_MS)
        await page.reload()
        await page.get_by_role("button", name="Open Help desk").click()
        await expect(field).to_have_value("Where is order 7?")
        # Why it was put back is still said.
        await log.get_by_role("alert").get_by_role("button", name="Try again").wait_for()
        provider.says("On its way.")
        await field.press("Enter")
        await log.get_by_text("On its way.").wait_for()
        await expect(field).to_have_value("")
        await kill(site)
        await say(page, "And the other?")
        again = log.get_by_role("button", name="Try again")
        await again.wait_for()
        await site.server.start()
        await expect(page.get_by_text("The connection is lost.")).to_have_count(0, timeout=RECOVERY_MS)
        provider.says("Tomorrow.")
        await again.click()
        await log.get_by_text("Tomorrow.").wait_for()
        await expect(log.get_by_text("And the other?")).to_have_count(1)
        await expect(again).to_have_count(0)
    page.problems.clear()


async def test_a_reply_that_ended_while_the_connection_was_broken_is_shown(site, other_site, page):
    async with provider_server() as provider, connect_by_cable(site) as (outside, cable):
        await open_widget(outside, other_site, page, provider, "broken")
        gate = asyncio.Event()
        provider.fails(speak_and_wait(WORDS, gate))
        await say(page, "Count")
        log = page.get_by_role("log")
        await log.get_by_text("word0 word1").wait_for()
        gate.set()
        await cable.pull()
        await page.get_by_text("The connection is lost.").wait_for()
        await cable.plug_in()
        await log.get_by_text("word79").wait_for()
        await expect(page.get_by_text("The connection is lost.")).to_have_count(0, timeout=RECOVERY_MS)
        await expect(log.get_by_role("alert")).to_have_count(0)
        assert len(provider.requests) == 1
    page.problems.clear()


async def test_half_a_reply_stays_and_says_that_it_was_cut_off(tmp_path, other_site, page):
    async with mortal_site(tmp_path) as site, provider_server() as provider:
        await open_widget(site, other_site, page, provider, "half")
        provider.fails(speak_and_wait(WORDS, asyncio.Event()))
        await say(page, "Count")
        log = page.get_by_role("log")
        await log.get_by_text("word0 word1").wait_for()
        await kill(site)
        await page.get_by_text("The connection is lost.").wait_for()
        await site.server.start()
        await log.get_by_text("The answer was cut off.").wait_for()
        await expect(log.get_by_text("word0 word1")).to_be_visible()
        provider.says("One, two, three.")
        await log.get_by_role("button", name="Try again").click()
        await log.get_by_text("One, two, three.").wait_for()
        await expect(log.get_by_text("Count")).to_have_count(1)
    page.problems.clear()


async def test_half_a_reply_of_a_provider_that_breaks_off_reads_the_same_after_a_reload(
    site, other_site, page
):
    async with provider_server() as provider:
        await open_widget(site, other_site, page, provider, "cut")
        provider.fails(speak_and_wait(WORDS, is_cut=True))
        await say(page, "Count")
        log = page.get_by_role("log")
        for _ in range(2):
            await log.get_by_text("The answer was cut off.").wait_for()
            await expect(log.get_by_text("word0 word1")).to_be_visible()
            await expect(log.get_by_role("button", name="Try again")).to_be_visible()
            await expect(page.get_by_label("Ask away")).to_have_value("")
            await page.reload()
            await page.get_by_role("button", name="Open Help desk").click()
        provider.says("One, two, three.")
        await log.get_by_role("button", name="Try again").click()
        for _ in range(2):
            await log.get_by_text("One, two, three.").wait_for()
            await expect(log.get_by_text("Count")).to_have_count(1)
            await expect(log.get_by_text("The answer was cut off.")).to_have_count(1)
            await expect(log.get_by_role("button", name="Try again")).to_have_count(0)
            await page.reload()
            await page.get_by_role("button", name="Open Help desk").click()


async def test_a_question_that_its_provider_refused_stays_in_the_conversation_alone(site, other_site, page):
    async with provider_server() as provider:
        await open_widget(site, other_site, page, provider, "refused")
        provider.fails(*[refusing(500)] * 8)
        await say(page, "Where is it?")
        log, field = page.get_by_role("log"), page.get_by_label("Ask away")
        for _ in range(2):
            await log.get_by_role("alert").get_by_text("This got no answer.").wait_for()
            await expect(log.get_by_text("Where is it?")).to_have_count(1)
            await expect(field).to_have_value("")
            await page.reload()
            await page.get_by_role("button", name="Open Help desk").click()
        provider.faults.clear()
        provider.says("On its way.")
        await log.get_by_role("button", name="Try again").click()
        for _ in range(2):
            await log.get_by_text("On its way.").wait_for()
            await expect(log.get_by_text("Where is it?")).to_have_count(1)
            await expect(log.get_by_role("alert")).to_have_count(0)
            await page.reload()
            await page.get_by_role("button", name="Open Help desk").click()
    page.problems.clear()


async def test_files_that_are_not_sent_survive_a_reload_before_the_history_is_there(site, other_site, page):
    async with provider_server() as provider:
        await open_widget(site, other_site, page, provider, "unsent")
        tray = page.locator("retinue-chat .tray")
        note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Order 7 is late."}
        await page.locator("retinue-chat input[type=file]").set_input_files([note])
        await expect(tray.get_by_text("note.txt")).to_be_visible()
        await expect(tray.locator("progress")).to_have_count(0)
        history = "**/transcript"
        await page.route(history, lambda _: None)
        async with page.expect_request(history):
            await page.reload()
        await page.get_by_role("button", name="Open Help desk").wait_for()
        await page.unroute(history)
        await page.reload()
        await page.get_by_role("button", name="Open Help desk").click()
        await expect(tray.get_by_text("note.txt")).to_be_visible()


async def test_a_message_that_the_service_has_is_not_kept_as_unsent(site, other_site, page):
    async with provider_server() as provider:
        await open_widget(site, other_site, page, provider, "asked")
        provider.says("On its way.")
        is_answered = asyncio.Event()

        async def keep_to_oneself(route) -> None:
            await route.fetch()
            is_answered.set()

        await page.route("**/chat", keep_to_oneself)
        await say(page, "Where is order 7?")
        await is_answered.wait()
        await page.unroute("**/chat")
        await page.reload()
        await page.get_by_role("button", name="Open Help desk").click()
        await page.get_by_role("log").get_by_text("On its way.").wait_for()
        await expect(page.get_by_label("Ask away")).to_have_value("")
        await page.wait_for_function("!Object.keys(sessionStorage).some((key) => key.endsWith(':unsent'))")


async def test_visitors_of_an_agent_without_a_budget_read_that_it_cannot_answer_now(site, other_site, page):
    async with provider_server() as provider:
        await open_widget(site, other_site, page, provider, "spent")
        agents = await site.call("GET", "/api/v1/agents?search=Clerk&sort=-created_at")
        scope = {"type": "agent", "id": agents["data"][0]["id"]}
        budget = {"scope": scope, "period": "month", "limit_tokens": 1, "action": "block"}
        provider.says("One.")
        await say(page, "First")
        log = page.get_by_role("log")
        await log.get_by_text("One.").wait_for()
        made = await site.call("POST", "/api/v1/budgets", budget)
        await say(page, "Second")
        refused = log.get_by_role("alert")
        await refused.get_by_text("The chat cannot answer right now.").wait_for()
        await expect(page.get_by_label("Ask away")).to_have_value("Second")
        await site.call("DELETE", f"/api/v1/budgets/{made['id']}")
        provider.says("Two.")
        await refused.get_by_role("button", name="Try again").click()
        await log.get_by_text("Two.").wait_for()


async def test_visitors_of_an_agent_without_a_model_read_no_advice_for_its_owner(site, other_site, page):
    agent = {"name": "Mute", "primary_model": "openai_compatible/none", "system_prompt": "You help."}
    agent_id = (await site.call("POST", "/api/v1/agents", agent))["id"]
    key = await site.call("POST", "/api/v1/embed/api-keys", {"agent_id": agent_id, "name": "Page"})
    attributes = f'data-agent-id="{agent_id}" data-api-key="{key["api_key"]}" data-inline lang="de"'
    tag = f'<script src="{site.url}/embed/widget.js" {attributes} data-lang="de"></script>'
    await page.goto(other_site.publish("mute", tag))
    await page.get_by_label("Nachricht schreiben").fill("Hallo?")
    await page.keyboard.press("Enter")
    await page.get_by_role("log").get_by_text("Der Chat kann gerade nicht antworten.").wait_for()
