"""Events in the console: a log that grows, what came of an event, and subscriptions with their conditions."""

import re
import secrets

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, new_person, open_page, sign_in_as

SUBSCRIPTIONS = "/api/v1/event-subscriptions"


@pytest.fixture
def kind() -> str:
    """A type of event that no other test knows."""
    return f"shop.order{secrets.token_hex(4)}"


async def emit(site, type_, **data):
    sent = {"event_type": type_, "data": data}
    return (await site.call("POST", "/api/v1/events/test", sent))["event"]


async def _fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_log_grows_while_it_is_looked_at(site, page, kind, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await emit(site, kind, name="First")
    await open_page(site, page, f"/events?search={kind}")
    rows = page.get_by_role("log").get_by_role("button", name=kind)
    await expect(rows).to_have_count(1)
    await emit(site, kind, name="Second")
    await expect(rows).to_have_count(2)
    assert await page.get_by_role("log").get_attribute("aria-live") == "off"
    await rows.first.click()
    await page.get_by_role("heading", name="What came of it").wait_for()
    await expect(page.get_by_role("group", name="JSON")).to_contain_text("Second")
    assert await axe(page) == []
    assert await _fits(page)


async def test_a_log_that_is_held_counts_what_is_new_and_leads_back(site, page, kind):
    await emit(site, kind, n=0)
    await open_page(site, page, f"/events?search={kind}")
    rows = page.get_by_role("log").get_by_role("button", name=kind)
    await expect(rows).to_have_count(1)
    await page.keyboard.press("Space")
    await page.get_by_text("Paused, 0 new").wait_for()
    for number in range(3):
        await emit(site, kind, n=number)
    await page.get_by_text("Paused, 3 new").wait_for()
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="3 new").click()
    await expect(rows).to_have_count(4)
    await page.get_by_text("Live, 4 in a minute").wait_for()


async def test_scrolling_away_from_the_newest_holds_the_log(site, page, kind):
    for number in range(30):
        await emit(site, kind, n=number)
    await page.set_viewport_size({"width": 1200, "height": 600})
    await open_page(site, page, f"/events?search={kind}")
    log = page.get_by_role("log")
    await log.get_by_role("button", name=kind).first.wait_for()
    await log.hover()
    await page.mouse.wheel(0, 400)
    await page.get_by_text("Paused, 0 new").wait_for()
    await emit(site, kind, n=99)
    await page.get_by_role("button", name="1 new").click()
    await page.get_by_role("button", name="Pause").wait_for()
    assert await log.evaluate("one => one.scrollTop") == 0


async def test_what_came_of_an_event_is_a_tree(site, page, kind):
    hook = await site.call("POST", "/api/v1/incoming-webhooks", {"name": kind})
    await site.call("POST", f"/webhooks/in/{hook['slug']}", {"order": 1})
    received = (await site.call("GET", f"/api/v1/incoming-webhooks/{hook['id']}/events"))["data"][0]
    await open_page(site, page, f"/events?event={received['event_id']}")
    panel = page.get_by_role("complementary", name="system.webhook.received")
    await expect(panel.get_by_role("list").get_by_role("button").first).to_contain_text("0 ms")
    await panel.get_by_role("link", name="Only these in the log").click()
    await expect(page).to_have_url(re.compile(f"correlation={received['correlation_id']}"))
    await page.keyboard.press("Escape")
    await panel.wait_for(state="detached")
    await site.call("DELETE", f"/api/v1/incoming-webhooks/{hook['id']}")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_subscription_tells_beforehand_what_it_matches(site, page, kind, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    for total in (50, 150, 250):
        await emit(site, kind, total=total, name=f"Order of {total}")
    await open_page(site, page, "/events/subscriptions/new")
    await page.get_by_role("combobox", name="Type").fill(kind)
    await page.get_by_text("Matches 3 of the last 3").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Condition", exact=True).click()
    await page.get_by_role("combobox", name="Field").fill("total")
    await page.keyboard.press("Escape")
    await page.get_by_role("combobox", name="Comparison").click()
    await page.get_by_role("option", name="at least").click()
    await page.get_by_role("textbox", name="Value").fill("100")
    await page.get_by_text("Matches 2 of the last 3").wait_for()
    await page.get_by_role("button", name="Notify people").click()
    await page.get_by_label("Title").fill("Large order")
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_role("button", name="Create subscription").click()
    row = page.get_by_role("row").filter(has_text=kind)
    await expect(row).to_contain_text("1 condition")
    (made,) = (await site.call("GET", f"{SUBSCRIPTIONS}?event_type={kind}"))["data"]
    assert made["filters"] == {"total": {"gte": 100}}
    await emit(site, kind, total=70)
    await row.get_by_role("link").click()
    await page.get_by_text("Matches 2 of the last 4").wait_for()
    await page.get_by_role("button", name="More", exact=True).first.click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await row.wait_for(state="detached")
    assert (await site.call("GET", f"{SUBSCRIPTIONS}?event_type={kind}"))["total"] == 0


async def test_somebody_without_the_permission_is_told_which_one_it_takes(site, page):
    """A person who registers is let in as somebody who chats with agents."""
    person = await new_person(site)
    await sign_in_as(site, page, person, "/events")
    await page.get_by_text("events:read").wait_for()
    await page.goto(f"{site.url}/console/webhooks")
    await page.get_by_text("webhooks:read").wait_for()
