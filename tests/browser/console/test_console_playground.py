"""The playground of the Build page: continued conversations, failing models and fast replies."""

import pytest
from playwright.async_api import expect

from tests.browser.console.build_page import say, speak_slowly, talker
from tests.browser.console.steps import AGENTS, open_page


@pytest.mark.slow
async def test_a_conversation_goes_on_in_the_playground(site, page):
    async with talker(site) as (agent_id, _, provider):
        provider.says("On Friday.")
        reply = await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "When does it come?"})
        await open_page(site, page, f"/conversations/{reply['conversation_id']}")
        await page.get_by_role("link", name="Continue in playground").click()
        log = page.get_by_role("log")
        await log.get_by_text("On Friday.").wait_for()
        provider.says("At noon.")
        await say(page, "At which time?")
        await log.get_by_text("At noon.").wait_for()
        said = [
            message["content"] for message in provider.last.json["messages"] if message["role"] != "system"
        ]
        assert said[:3] == ["When does it come?", "On Friday.", "At which time?"]
        before = (await site.call("GET", f"/api/v1/conversations/{reply['conversation_id']}"))[
            "message_count"
        ]
        assert before == 2, "the conversation it came from stays as it was"
        assert "from=" not in page.url


@pytest.mark.slow
async def test_a_model_that_fails_says_so_and_leads_to_the_models(site, page):
    agent = {"name": "Lost", "primary_model": "openai_compatible/gone", "system_prompt": "x"}
    async with talker(site):
        agent_id = (await site.call("POST", AGENTS, agent))["id"]
        await open_page(site, page, f"/agents/{agent_id}")
        await say(page, "Hello")
        alert = page.get_by_role("log").get_by_role("alert")
        await alert.get_by_text("No model is reachable for this agent.").wait_for()
        await expect(alert.get_by_role("link", name="Open Models")).to_be_visible()


@pytest.mark.slow
async def test_a_stream_of_a_hundred_words_a_second_stays_smooth(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        provider.fails(speak_slowly([f"word{n} " for n in range(300)], 0.008))
        await page.evaluate(
            "() => { window.slow = []; new PerformanceObserver((l) => l.getEntries().forEach((e) =>"
            " window.slow.push(e.duration))).observe({ type: 'longtask' }) }"
        )
        await say(page, "Speak")
        await page.get_by_role("log").get_by_text("word299").wait_for()
        # A task of 50 ms or more is one that a person feels; the machine itself may cause a few.
        slow = await page.evaluate("window.slow")
        assert sum(slow) < 1500, slow
