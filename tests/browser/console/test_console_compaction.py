"""Tests of the notice that a long conversation was compacted, in the playground and the transcript."""

import re

from playwright.async_api import expect

from tests.browser.console.build_page import say, talker
from tests.browser.console.steps import AGENTS, axe, open_page

LINE = "Older messages are summarized from here on"
EARLIER = "The model reads a summary of older messages"
QUESTION = "Tell me about the harbour. " * 60


async def test_a_compacted_history_is_said_where_it_happened(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"max_context_tokens": 2000})
        await site.call("POST", f"{AGENTS}/{agent_id}/publish", {})
        await open_page(site, page, f"/agents/{agent_id}")
        log = page.get_by_role("log")
        for number in range(1, 7):
            await say(page, f"{number}. {QUESTION}")
            await expect(log.get_by_role("button", name="Trace")).to_have_count(number)
            if await log.get_by_text(LINE).count():
                break
        await expect(log.get_by_text(LINE)).to_have_count(1)
        assert await axe(page) == []
        await log.get_by_role("button", name="Trace").last.click()
        await log.get_by_role("link", name="Open the trace").click()
        await page.get_by_role("link", name="Conversation", exact=True).click()
        transcript = page.get_by_role("region", name="Transcript")
        await expect(transcript.get_by_text(LINE)).to_have_count(1)
        await expect(transcript.get_by_text(EARLIER)).to_have_count(0)
        # The line stays in sight where only later turns are shown.
        conversation_id = re.findall(r"conv_\w+", page.url)[0]
        await page.route(
            f"**/conversations/{conversation_id}/messages*",
            lambda route: route.fulfill(
                json={"data": [], "pagination": {"page": 1, "per_page": 100, "total": 300, "pages": 3}}
            ),
        )
        await page.reload()
        await expect(transcript.get_by_text(EARLIER)).to_have_count(1)
