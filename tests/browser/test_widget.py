"""The chat widget in a page of another origin."""

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.forms import violations
from tests.browser.widgets import widget_tag


async def test_the_widget_opens_in_a_strict_page_and_axe_finds_nothing(site, other_site, page):
    tag = f'<script src="{site.url}/embed/widget.js" data-agent-id="agt_x" data-api-key="emb_x"></script>'
    policy = f"default-src 'none'; script-src {site.url}; connect-src {site.url}"
    await page.goto(other_site.publish("widget", tag, policy))
    await page.get_by_role("button", name="Open Chat").click()
    await page.get_by_text("Hello! How can I help?").wait_for()
    assert await violations(page) == []
    await page.get_by_label("Write a message").fill("<img src=x onerror=alert(1)>")
    await page.get_by_role("button", name="Send").click()
    # Nobody has this key, and a page of others may not learn more than that.
    await page.get_by_text("The chat cannot be reached from here.").wait_for()
    # Neither the design nor an answer is given.
    assert len(page.problems) == 2
    assert all("CORS policy" in refused for refused in page.problems)
    page.problems.clear()


@pytest.mark.journey
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
async def test_a_conversation_in_a_page_of_another_origin(site, other_site, page, scheme, width):
    async with provider_server() as provider:
        tag = await widget_tag(site, provider)
        policy = f"default-src 'none'; script-src {site.url}; connect-src {site.url}"
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await page.set_viewport_size({"width": width, "height": 800})
        await page.goto(other_site.publish(f"talk-{scheme}-{width}", tag, policy))
        await page.get_by_role("button", name="Open Help desk").click()
        await expect(page.get_by_label("Ask away")).to_be_focused()
        assert await violations(page) == []
        provider.says("It is **late**: see [the page](https://example.com/).")
        await page.get_by_role("button", name="Where is it?").click()
        await page.get_by_role("log").get_by_role("link", name="the page").wait_for()
        await expect(page.get_by_role("button", name="Where is it?")).to_have_count(0)
        assert await violations(page) == []
        panel = await page.get_by_role("dialog").bounding_box()
        assert (panel["width"] == 390) == (width == 390)
        # Without a network nothing is lost, and the widget says so.
        await page.context.set_offline(True)
        await page.get_by_text("You are offline.").wait_for()
        await page.get_by_label("Ask away").fill("Still here")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Ask away")).to_have_value("Still here")
        await page.context.set_offline(False)
        # Until the browser has told the page, the widget refuses to send.
        await expect(page.get_by_text("You are offline.")).to_have_count(0)
        provider.says("Yes.")
        await page.keyboard.press("Enter")
        await page.get_by_text("Yes.", exact=True).wait_for()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Open Help desk")).to_be_focused()
