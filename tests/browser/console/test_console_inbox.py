"""The inbox of the console: times of the place one is at, and what is done is no longer unread."""

import re

from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import agent_that_asks_first, axe, open_page, waiting_approval
from tests.tools.servers.rest_api import rest_api

APPROVALS = "/api/v1/approvals"


async def test_what_was_decided_elsewhere_is_read_in_an_open_inbox(site, page):
    await site.call("POST", "/api/v1/notifications/read-all", {})
    async with provider_server() as provider, rest_api() as remote:
        agent = await agent_that_asks_first(site, provider, f"{remote.url}/refunds")
        id = await waiting_approval(site, provider, agent, 10777)
        await open_page(site, page, "/inbox")
        row = page.get_by_role("listitem").filter(has=page.locator(f"a[href$='approvals?id={id}']"))
        await row.get_by_role("button", name="Mark as read").wait_for()
        # The server names the end in UTC, the console in the time of the person: "20 Nov, 16:21".
        expires = (await site.call("GET", f"{APPROVALS}/{id}"))["data"]["expires_at"]
        clock = await page.evaluate(
            """at => new Date(at).toLocaleString("en-GB",
                 {day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"})""",
            expires,
        )
        await row.get_by_text(f"Decide it before {clock}.").wait_for()
        await expect(page.get_by_role("list").filter(has_text="UTC")).to_have_count(0)
        assert await axe(page) == []
        # Somebody decides it in another window, and nothing is clicked here.
        await site.call("POST", f"{APPROVALS}/{id}/reject", {})
        await expect(row.get_by_role("button", name="Mark as read")).to_have_count(0)
        await expect(page.get_by_role("link", name=re.compile(r"^Inbox, \d"))).to_have_count(0)
