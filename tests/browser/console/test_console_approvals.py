"""Approvals in the console: they arrive by themselves and are decided by keyboard and on a phone."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import agent_that_asks_first, axe, open_page, waiting_approval
from tests.tools.servers.rest_api import rest_api

APPROVALS = "/api/v1/approvals"


@pytest.fixture
async def ask_for_refund(site):
    """Let an agent ask for the refund of an order, and return the id of the approval."""
    async with provider_server() as provider, rest_api() as remote:
        agent = await agent_that_asks_first(site, provider, f"{remote.url}/refunds")
        asked = []

        async def ask(order):
            asked.append(await waiting_approval(site, provider, agent, order))
            return asked[-1]

        yield ask
        for id in asked:
            status = (await site.call("GET", f"{APPROVALS}/{id}"))["data"]["status"]
            if status == "pending":
                await site.call("POST", f"{APPROVALS}/{id}/reject", {})


async def approval(site, id):
    return (await site.call("GET", f"{APPROVALS}/{id}"))["data"]


@pytest.mark.journey
async def test_approvals_arrive_by_themselves_and_are_decided_by_keyboard(site, page, ask_for_refund):
    await open_page(site, page, "/approvals")
    first, second = await ask_for_refund(10482), await ask_for_refund(10311)
    item = page.get_by_role("button").filter(has_text="Refund order 10482")
    await item.wait_for()
    await expect(item).to_have_attribute("aria-current", "true")
    await page.get_by_role("button").filter(has_text="Refund order 10311").wait_for()
    await page.keyboard.press("j")
    await expect(item).to_have_attribute("aria-current", "false")
    await page.keyboard.press("k")
    await expect(item).to_have_attribute("aria-current", "true")
    await expect(page.get_by_label("Order", exact=True)).not_to_be_editable()
    await page.get_by_label("Amount").fill("much")
    await page.get_by_text("Enter a number, such as 1,234.5.").wait_for()
    await expect(page.get_by_role("button", name=re.compile("^Approve"))).to_be_disabled()
    await page.get_by_label("Amount").fill("150")
    await page.get_by_text("You change").wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.keyboard.press("a")
    await expect(page.get_by_label("Comment")).to_be_focused()
    await page.keyboard.type("Within policy")
    await page.keyboard.press("Control+Enter")
    await page.get_by_text("Approved. The work continues").wait_for()
    decided = await approval(site, first)
    assert (decided["status"], decided["edited_input"]) == ("approved", {"amount": 150})
    assert decided["responses"][0]["comment"] == "Within policy"
    await page.get_by_text("Refund order 10311").first.wait_for()
    await expect(page.get_by_label("Order", exact=True)).to_have_value("10311")
    await page.keyboard.press("r")
    await expect(page.get_by_label("Comment")).to_be_focused()
    await page.keyboard.press("Control+Enter")
    await page.get_by_text("Rejected. The call does not run").wait_for()
    assert (await approval(site, second))["status"] == "rejected"


async def test_someone_who_was_faster_is_named_with_the_decision(site, page, ask_for_refund):
    id = await ask_for_refund(77)
    await open_page(site, page, f"/approvals?id={id}")
    await expect(page.get_by_label("Order", exact=True)).to_have_value("77")
    await site.call("POST", f"{APPROVALS}/{id}/reject", {"comment": "Goods were worn"})
    await page.get_by_role("button", name=re.compile("^Approve")).click()
    await page.get_by_text("This approval has already been rejected.").wait_for()
    await page.get_by_text("Goods were worn").wait_for()
    await expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    assert await axe(page) == []


async def test_the_request_that_is_shown_stays_when_it_is_decided_elsewhere(site, page, ask_for_refund):
    first = await ask_for_refund(501)
    second = await ask_for_refund(502)
    await open_page(site, page, "/approvals")
    order = page.get_by_label("Order", exact=True)
    await expect(order).to_have_value("501")
    called = (await approval(site, first))["payload"]["function"]
    await expect(page.locator("dl").get_by_text(called, exact=True)).to_be_visible()
    await site.call("POST", f"{APPROVALS}/{first}/reject", {"comment": "Too late"})
    await page.get_by_text("This request was closed while you were looking at it: Rejected.").wait_for()
    await expect(order).to_have_value("501")
    await expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    assert await axe(page) == []
    await page.keyboard.press("j")
    await expect(order).to_have_value("502")
    await expect(page.get_by_role("region", name="How similar calls were decided")).to_contain_text(called)
    await page.get_by_role("button", name=re.compile("^Reject")).click()
    await page.get_by_text("Rejected. The call does not run").wait_for()
    await expect(page.get_by_text("was closed while you were looking at it")).to_have_count(0)
    assert (await approval(site, second))["status"] == "rejected"


async def test_a_late_answer_leads_nobody_away_who_has_gone_on(site, page, ask_for_refund):
    first, _second = await ask_for_refund(601), await ask_for_refund(602)
    is_looking_at_second = asyncio.Event()

    async def answer_late(route):
        await is_looking_at_second.wait()
        await route.continue_()

    await page.route("**/approvals/*/reject", answer_late)
    await open_page(site, page, f"/approvals?id={first}")
    order = page.get_by_label("Order", exact=True)
    await expect(order).to_have_value("601")
    async with page.expect_request("**/approvals/*/reject"):
        await page.get_by_role("button", name=re.compile("^Reject")).click()
    await page.keyboard.press("j")
    await expect(order).to_have_value("602")
    await page.get_by_label("Comment").fill("Wait")
    address = page.url
    is_looking_at_second.set()
    await page.get_by_text("Rejected. The call does not run").wait_for()
    await expect(page.get_by_label("Comment")).to_have_value("Wait")
    await expect(order).to_have_value("602")
    assert page.url == address


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_an_approval_is_decided_on_a_phone(site, page, ask_for_refund, scheme):
    id = await ask_for_refund(4711)
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": 390, "height": 844})
    await open_page(site, page, "/inbox")
    await page.get_by_role("link", name=re.compile("Approval needed")).first.click()
    await page.get_by_role("link", name="Back to the list").click()
    await page.get_by_role("button").filter(has_text="Refund order 4711").click()
    await page.get_by_role("heading", level=2).wait_for()
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Approve 184").click()
    await page.get_by_text("Approved. The work continues").wait_for()
    await expect(page.get_by_role("button").filter(has_text="Refund order 4711")).to_have_count(0)
    assert (await approval(site, id))["status"] == "approved"
