"""Webhooks in the console: a receiver that fails and recovers, signatures, and what comes in."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, open_page
from tests.webhooks.receiver import receiving

WEBHOOKS = "/api/v1/webhooks"
INCOMING = "/api/v1/incoming-webhooks"


@pytest.fixture
async def receiver():
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
async def shop(site, receiver):
    """A webhook whose receiver refused the only event so far."""
    receiver.default = 503
    body = {"url": f"{receiver.url}/shop", "events": ["shop.*"], "description": "Shop ERP"}
    webhook = await site.call("POST", WEBHOOKS, body)
    await emit(site, "shop.ordered", 10482)
    await receiver.until("/shop", 1)
    yield webhook
    await site.call("DELETE", f"{WEBHOOKS}/{webhook['id']}")


async def emit(site, type_, order):
    await site.call("POST", "/api/v1/events/test", {"event_type": type_, "data": {"order": order}})


async def _fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_receiver_that_refuses_is_found_and_tried_until_it_recovers(
    site, page, shop, receiver, scheme, width
):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/webhooks?show=look")
    row = page.get_by_role("row").filter(has_text="Shop ERP")
    await expect(row).to_contain_text("Refuses since")
    assert await axe(page) == []
    assert await _fits(page)
    await row.get_by_role("link", name="Shop ERP").click()
    item = page.get_by_role("list", name="Deliveries").get_by_role("button").first
    await item.click()
    await expect(page.get_by_role("list", name="Tries")).to_contain_text("503")
    assert await axe(page) == []
    assert await _fits(page)
    receiver.default = 200
    await page.get_by_role("button", name="Try now").click()
    await expect(page.get_by_text("Arrived at try 2").last).to_be_visible()
    assert receiver.last.retry_count == "1"


async def test_keys_go_through_deliveries_and_try_one_again(site, page, shop, receiver):
    await emit(site, "shop.paid", 10483)
    await receiver.until("/shop", 2)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_page(site, page, f"/webhooks/{shop['id']}")
    await page.get_by_role("heading", name="shop.paid").wait_for()
    await page.keyboard.press("j")
    await page.get_by_role("heading", name="shop.ordered").wait_for()
    await expect(page).to_have_url(re.compile("delivery=dlv_"))
    await page.keyboard.press("y")
    await page.get_by_text("Copied as cURL").wait_for()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"curl -X POST '{receiver.url}/shop'")
    assert '"order":10482' in copied
    await page.keyboard.press("r")
    await receiver.until("/shop", 3)
    await page.keyboard.press("k")
    await page.get_by_role("heading", name="shop.paid").wait_for()


async def test_a_signature_is_checked_in_the_page_and_asks_nobody(site, page, shop, receiver):
    got = receiver.last.headers
    await open_page(site, page, f"/webhooks/{shop['id']}")
    await page.get_by_text("Signature", exact=True).click()
    asked = []
    page.on("request", lambda request: asked.append(request.post_data or request.url))
    await page.get_by_label("Signing secret").fill(shop["secret"])
    await page.get_by_label("Timestamp that was received").fill(got["x-service-timestamp"])
    for header in ("x-service-signature", "webhook-signature"):
        await page.get_by_label("Signature that was received").fill(got[header])
        await page.get_by_text("The signature fits the secret you pasted").wait_for()
    await page.get_by_label("Timestamp that was received").fill("1")
    await page.get_by_text("The signature does not fit").wait_for()
    assert not [one for one in asked if "whsec_" in one]
    assert await axe(page) == []


async def test_what_was_given_up_is_sent_again(site, page, shop, receiver):
    """A test is not tried again by itself."""
    answer = await site.call("POST", f"{WEBHOOKS}/{shop['id']}/test", {"event_type": "shop.tested"})
    assert answer["success"] is False
    await open_page(site, page, f"/webhooks/{shop['id']}?status=failed")
    await page.get_by_role("button", name="Replay 1").wait_for()
    before = len(receiver.at("/shop"))
    receiver.default = 200
    await page.keyboard.press("Shift+R")
    await page.get_by_role("dialog").get_by_role("button", name="Replay 1").click()
    await page.get_by_text("is sent again").wait_for()
    await receiver.until("/shop", before + 1)
    assert receiver.last.json["type"] == "shop.tested"


async def test_a_webhook_is_made_with_a_secret_that_is_shown_once_and_replaced(site, page, receiver):
    await open_page(site, page, "/webhooks")
    await page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Address").fill(f"{receiver.url}/new")
    await dialog.get_by_label("Events", exact=True).fill("shop.made")
    await page.keyboard.press("Enter")
    await dialog.get_by_label("Name").fill("New board")
    await dialog.get_by_role("button", name="Create").click()
    await page.get_by_role("heading", name="Secret of New board").wait_for()
    await expect(page.get_by_role("group", name="Signing secret")).to_contain_text("whsec_")
    await page.get_by_role("button", name="I have kept it").click()
    await page.get_by_role("link", name="New board").click()
    await page.get_by_role("heading", name="Nothing sent yet").wait_for()
    await page.get_by_role("button", name="Send a test").click()
    await receiver.until("/new", 1)
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="New secret").click()
    await page.get_by_role("dialog").get_by_role("button", name="New secret").click()
    await page.get_by_text("deliveries are signed with the old secret too").wait_for()
    await page.get_by_role("button", name="I have kept it").click()
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_label("Type New board to confirm").fill("New board")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(re.compile("/webhooks$"))


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_what_comes_in_stands_there_at_once_and_is_taken_again(site, page, scheme, width):
    hook = await site.call("POST", INCOMING, {"name": "Shop orders"})
    path = f"/webhooks/in/{hook['slug']}"
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/webhooks/incoming/{hook['id']}")
    await page.get_by_role("heading", name="Nothing came in yet").wait_for()
    assert await axe(page) == []
    await site.call("POST", path, {"order": 10482})
    items = page.get_by_role("list", name="What came in").get_by_role("button")
    await items.first.click()
    await expect(page.get_by_role("group", name="JSON")).to_contain_text("10482")
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_role("button", name="Take it again").click()
    await page.get_by_text("Replay of").wait_for()
    await site.call("DELETE", f"{INCOMING}/{hook['id']}")


async def test_an_incoming_webhook_is_made_with_a_secret(site, page):
    await open_page(site, page, "/webhooks/incoming?create=true")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("From GitHub")
    await dialog.get_by_label("Who may send").click()
    await page.get_by_role("option", name="GitHub").click()
    await expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    await dialog.get_by_label("Secret").fill("a-long-enough-secret")
    await dialog.get_by_role("button", name="Create").click()
    await page.get_by_role("heading", name="From GitHub").wait_for()
    made = (await site.call("GET", INCOMING, None))["data"][0]
    assert (made["name"], made["verification"]["type"]) == ("From GitHub", "github")
    assert made["verification"]["has_secret"] is True
