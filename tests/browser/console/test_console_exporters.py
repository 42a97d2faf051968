"""Exporters of traces in the console: made, tried, switched off, changed and deleted."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, open_page
from tests.traces.otlp_receiver import otlp_collector

EXPORTERS = "/api/v1/trace-exporters"


@pytest.fixture
async def receiver(site):
    """A receiver that takes what comes; exporters that a test leaves behind are deleted."""
    async with otlp_collector() as collector:
        yield collector
    for one in (await site.call("GET", EXPORTERS))["data"]:
        await site.call("DELETE", f"{EXPORTERS}/{one['id']}")


async def fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_an_exporter_is_made_and_tried(site, page, receiver, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/settings/exporters")
    await page.get_by_role("heading", name="No exporter").wait_for()
    assert await axe(page) == []
    await page.get_by_role("button", name="Add exporter").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("Tempo")
    await dialog.get_by_label("Address").fill(receiver.url)
    await dialog.get_by_label("Name of header 1").fill("X-Key")
    await expect(dialog.get_by_role("button", name="Add exporter")).to_be_disabled()
    await dialog.get_by_label("Value of header 1").fill("receiver-key")
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Add exporter").click()
    await page.get_by_role("button", name="Test").click()
    await page.get_by_text("The receiver accepted a step").wait_for()
    assert await axe(page) == []
    assert await fits(page)
    assert receiver.accepted[-1].headers["X-Key"] == "receiver-key"


async def test_a_receiver_that_is_gone_is_told_and_replaced(site, page, receiver):
    body = {"name": "Phoenix", "endpoint": receiver.url, "headers": {"X-Key": "first-key"}}
    made = await site.call("POST", EXPORTERS, body)
    path = f"{EXPORTERS}/{made['id']}"
    receiver.is_down = True
    await open_page(site, page, "/settings/exporters")
    row = page.get_by_role("listitem").filter(has_text="Phoenix")
    await row.get_by_role("button", name="Test").click()
    await row.get_by_text("The test failed").wait_for()
    await row.get_by_role("switch", name="Phoenix is on").click(force=True)
    await expect(row).to_contain_text("Switched off")
    await row.get_by_role("button", name="Actions on Phoenix").click()
    await page.get_by_role("menuitem", name="Change").click()
    dialog = page.get_by_role("dialog")
    # The stored value stays, unless the receiver is another one.
    await expect(dialog.get_by_label("Value of header 1")).to_have_value("")
    await dialog.get_by_label("Share of traces").fill("25")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("25% of the traces")
    stored = await site.call("GET", path)
    assert (stored["enabled"], stored["sample"], list(stored["headers"])) == (False, 0.25, ["X-Key"])
    await row.get_by_role("button", name="Actions on Phoenix").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(row).to_have_count(0)
    assert (await site.answer("GET", path))[0] == 404


async def test_a_fourth_exporter_is_not_offered(site, page, receiver):
    for number in range(3):
        await site.call("POST", EXPORTERS, {"name": f"Receiver {number}", "endpoint": receiver.url})
    await open_page(site, page, "/settings/exporters")
    await expect(page.get_by_role("listitem").filter(has_text="Receiver")).to_have_count(3)
    await expect(page.get_by_role("button", name="Add exporter")).to_be_disabled()
    await expect(page.get_by_role("link", name=re.compile("^Exporters"))).to_contain_text("3")
