"""The chat widget in a page of another origin."""

from tests.browser.forms import violations


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
    (refused,) = page.problems
    assert "CORS policy" in refused
    page.problems.clear()
