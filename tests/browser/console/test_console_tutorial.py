"""The tutorial of the guides: from an empty folder to a refund that a colleague approves on a phone."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.conftest import PATIENCE_MS
from tests.browser.console.new_server import NewServer
from tests.browser.console.steps import axe
from tests.browser.console.tutorial import PROMPT, QUESTION, REFUND_INPUT, SHOP_TOKEN, Day, running_shop
from tests.e2e.load import call
from tests.e2e.processes import ROOT

GUIDE = ROOT / "docs/guides/tutorial.md"


@pytest.fixture
async def day(tmp_path: Path, page: Any) -> AsyncIterator[Day]:
    async with provider_server() as provider, running_shop(tmp_path) as shop, NewServer(tmp_path) as server:
        await server.start()
        yield Day(server, provider, shop, page)


async def visitor(browser: Any, width: int, height: int) -> Any:
    """Return a page of somebody else, on a screen of this size."""
    context = await browser.new_context(
        locale="en-GB", viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE_MS)
    return await context.new_page()


async def refunds(day: Day) -> Any:
    _, paid = await call(day.shop.port, "GET", "/refunds", token=SHOP_TOKEN)
    return paid


async def test_a_refund_of_a_support_bot_is_approved_on_a_phone_by_the_invited_colleague(day, page, browser):
    await page.emulate_media(reduced_motion="reduce")
    await day.set_up()
    assert SHOP_TOKEN not in await page.content()

    customer = await visitor(browser, 1280, 800)
    await day.ask_for_refund(customer)
    assert await refunds(day) == []

    phone = await visitor(browser, 390, 844)
    await day.join(phone)
    await day.open_request(phone)
    assert await axe(phone) == []
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await day.approve(phone)
    await day.see_the_end(customer)
    assert await refunds(day) == [{"order": "10482", "amount": 80, "status": "paid"}]

    await day.look_back()
    await expect(page.get_by_text("I ask a colleague to refund 89 euro.")).to_be_visible()
    for other in (customer, phone):
        await other.context.close()


@pytest.mark.parametrize("typed", [*PROMPT.splitlines(), QUESTION, *REFUND_INPUT.splitlines(), SHOP_TOKEN])
def test_the_guide_has_every_text_that_the_test_types_in(typed: str) -> None:
    assert typed in GUIDE.read_text()
