"""The inbox of the console: times of the place one is at, and what is done is no longer unread."""

import re

from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import (
    agent_that_asks_first,
    axe,
    new_person,
    open_page,
    sign_in_as,
    waiting_approval,
)
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


async def test_a_request_for_access_opens_the_person_who_asks(site, page, browser):
    asker = await new_person(site)
    user_id = (await site.call("GET", f"/users?search={asker.email}"))["users"][0]["id"]
    await site.call("PUT", f"/users/{user_id}/role", {"role": "viewer"})
    other = await (await browser.new_context(locale="en-GB")).new_page()
    await sign_in_as(site, other, asker, "/usage")
    await other.get_by_role("heading", name="You cannot see this").wait_for()
    await other.get_by_role("button", name="Ask for it").click()
    await other.get_by_role("textbox").last.fill(f"Costs of {user_id[-6:]}")
    await other.locator("form").get_by_role("button").click()
    await other.get_by_role("status").filter(has_text="The administrators are notified").first.wait_for()
    await other.context.close()
    await open_page(site, page, "/inbox")
    row = page.get_by_role("listitem").filter(has_text=f"Costs of {user_id[-6:]}")
    await row.get_by_role("link").click()
    await expect(page).to_have_url(re.compile(f"/settings/people.*person={user_id}"))
    panel = page.get_by_role("complementary")
    await expect(panel).to_contain_text(asker.email)
    assert await axe(page) == []
