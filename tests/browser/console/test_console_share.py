"""Sharing an agent in the console: the look of its widget, keys, snippets, and where it is installed."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import KEY, provider_server
from tests.browser.console.steps import AGENTS, axe, open_page


@pytest.fixture
async def agent(site):
    """An agent whose provider says what the test tells it: its id, and the provider."""
    async with provider_server() as provider:
        name = f"m-{provider.url.rpartition(':')[2].partition('/')[0]}"
        key = {
            "provider": "openai_compatible",
            "name": name,
            "api_key": KEY,
            "base_url": f"{provider.url}/v1",
        }
        await site.call("POST", "/api/v1/api-keys", {**key, "models": [name]})
        body = {"name": "Clerk", "primary_model": f"openai_compatible/{name}", "system_prompt": "You help."}
        yield (await site.call("POST", AGENTS, {**body, "status": "published"}))["id"], provider


async def test_a_look_is_chosen_beside_the_real_widget_and_saved(site, page, agent):
    agent_id, provider = agent
    await open_page(site, page, f"/agents/{agent_id}")
    await page.get_by_role("link", name="Share").click()
    await page.get_by_text("Website", exact=True).click()
    frame = page.frame_locator("iframe")
    await frame.get_by_text("Hello! How can I help?").wait_for()
    await page.get_by_label("Title").fill("Help desk")
    await page.get_by_label("Greeting").fill("Good day.")
    await page.get_by_label("Suggestions").fill("Where is it?\nWho are you?")
    await frame.get_by_role("heading", name="Help desk").wait_for()
    await frame.get_by_text("Good day.").wait_for()
    # The preview talks to the agent.
    provider.says("In the mail.")
    await frame.get_by_role("button", name="Where is it?").click()
    await frame.get_by_text("In the mail.").wait_for()
    # A colour that is too pale is measured, and a better one is proposed.
    await page.get_by_label("Colour", exact=True).fill("#ffd966")
    await page.get_by_text("Button on the page: 1.3:1").wait_for()
    await page.get_by_role("button", name=re.compile("^Use #")).click()
    await expect(page.get_by_role("button", name=re.compile("^Use #"))).to_have_count(0)
    await page.get_by_label("Text on the colour", exact=True).fill("#ffffff")
    await page.get_by_text("Text on the colour: ").wait_for()
    await page.get_by_text("Left", exact=True).click()
    await page.get_by_role("button", name="Save look").click()
    await page.get_by_text("Saved.").wait_for()
    saved = await site.call("GET", f"{AGENTS}/{agent_id}/widget")
    assert (saved["title"], saved["position"]) == ("Help desk", "left")
    assert saved["suggestions"] == ["Where is it?", "Who are you?"]
    assert re.fullmatch("#[0-9a-f]{6}", saved["accent"])


async def test_a_key_is_shown_once_installed_in_a_page_and_found_there(site, page, other_site, agent):
    agent_id, _ = agent
    await site.call("PUT", f"{AGENTS}/{agent_id}/widget", {"title": "Help desk"})
    await open_page(site, page, f"/agents/{agent_id}/share")
    await page.get_by_text("Website", exact=True).click()
    await page.get_by_role("button", name="Create key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Shop")
    await dialog.get_by_label("Allowed domains").fill("not a domain!")
    await dialog.get_by_role("button", name="Create key").click()
    await expect(dialog.get_by_label("Allowed domains")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Allowed domains").fill("example.com")
    await dialog.get_by_role("button", name="Create key").click()
    key = await page.get_by_role("group", name="Key", exact=True).inner_text()
    assert key.startswith("emb_")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="I have stored it").click()
    snippets = page.get_by_role("region", name="Install", exact=True)
    for kind in ("Inline", "React", "curl", "Script"):
        await snippets.get_by_text(kind, exact=True).click()
        await expect(snippets.get_by_role("group", name=f"{kind} snippet")).to_contain_text(key)
    script = await snippets.get_by_role("group", name="Script snippet").inner_text()
    await page.get_by_label("Domain to check").fill("localhost")
    await page.get_by_role("button", name="Check").click()
    await page.get_by_text("localhost has not loaded the widget yet.").wait_for()
    # The domain is allowed, the page is opened, and the check finds it.
    await page.get_by_role("button", name="Domains").click()
    await page.get_by_role("dialog").get_by_label("Allowed domains").fill("localhost")
    await page.get_by_role("button", name="Save domains").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    visitor = await page.context.new_page()
    await visitor.goto(other_site.publish("shop", script))
    await visitor.get_by_role("button", name="Open Help desk").wait_for()
    await visitor.close()
    await page.get_by_role("button", name="Check").click()
    await page.get_by_text("localhost has the widget.").wait_for()
    await page.get_by_role("button", name="Rotate").click()
    await page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    assert await page.get_by_role("group", name="Key", exact=True).inner_text() != key
    await page.get_by_role("button", name="Done").click()
    await page.get_by_role("button", name="Revoke").click()
    await page.get_by_role("dialog").get_by_label("Type Shop to confirm").fill("Shop")
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await page.get_by_text("A page needs a key to reach the agent.").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_where_an_agent_is_shared(site, page, agent, scheme):
    agent_id, _ = agent
    await site.call("PUT", f"{AGENTS}/{agent_id}/widget", {"accent": "#ffd966", "suggestions": ["Why?"]})
    await site.call("POST", "/api/v1/embed/api-keys", {"agent_id": agent_id, "name": "Shop"})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/agents/{agent_id}/share")
    await page.get_by_text("Website", exact=True).click()
    for width in (1440, 1024, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.frame_locator("iframe").get_by_role("button", name="Why?").wait_for()
        assert await axe(page) == [], width
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    await page.get_by_role("button", name="Create key").click()
    await page.get_by_role("dialog").get_by_label("Name").wait_for()
    assert await axe(page) == []


async def test_on_a_phone_the_preview_stands_below_the_look(site, page, agent):
    await page.set_viewport_size({"width": 390, "height": 844})
    await open_page(site, page, f"/agents/{agent[0]}/share")
    save = await page.get_by_role("button", name="Save look").bounding_box()
    preview = await page.locator("iframe").bounding_box()
    assert save["y"] + save["height"] < preview["y"]


async def test_an_agent_that_is_not_published_says_that_it_answers_and_can_be_published_there(site, page):
    body = {"name": "Quiet", "primary_model": "local/smollm2-135m", "system_prompt": "You help."}
    agent_id = (await site.call("POST", "/api/v1/agents", body))["id"]
    changed = {"snapshot": {"system_prompt": "You help kindly."}}
    await open_page(site, page, f"/agents/{agent_id}/share")
    note = page.get_by_text("Not published yet. Visitors already get")
    await note.wait_for()
    await expect(note).to_contain_text("v1")
    assert await axe(page) == []
    await page.goto(f"{site.url}/console/agents/{agent_id}/versions")
    await note.wait_for()
    await page.get_by_text("In use", exact=True).wait_for()
    await page.get_by_text("Draft", exact=True).locator("visible=true").first.hover()
    await page.get_by_role("tooltip").get_by_text("It answers all the same").wait_for()
    # A draft that would change something is looked at first.
    await site.call("PUT", f"/api/v1/agents/{agent_id}/draft", changed)
    await page.goto(f"{site.url}/console/agents/{agent_id}/share")
    await page.get_by_role("button", name="Publish").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("You help kindly.").wait_for()
    await dialog.get_by_role("button", name="Publish v2").click()
    await expect(note).to_have_count(0)
    assert (await site.call("GET", f"/api/v1/agents/{agent_id}"))["status"] == "published"
    # Without one it is published as it is.
    other = (await site.call("POST", "/api/v1/agents", {**body, "name": "Plain"}))["id"]
    await page.goto(f"{site.url}/console/agents/{other}/share")
    await page.get_by_role("button", name="Publish").click()
    await dialog.get_by_text("It already answers everybody").wait_for()
    await dialog.get_by_role("button", name="Publish").click()
    await expect(note).to_have_count(0)


@pytest.mark.journey
async def test_a_page_of_its_own_is_switched_on_with_a_budget_and_handed_out(site, page, agent):
    agent_id, _ = agent
    await open_page(site, page, f"/agents/{agent_id}/share")
    segment = page.get_by_role("region", name="Hosted page")
    await segment.get_by_label("End of the address").fill("clerk-desk")
    switch = segment.get_by_role("switch", name="Hosted page")
    await switch.click(force=True)
    await segment.get_by_text("everybody with the link can spend money").wait_for()
    await expect(switch).not_to_be_checked()
    await segment.get_by_label("Tokens a month").fill("500000")
    await switch.click(force=True)
    await segment.get_by_role("group", name="Address").wait_for()
    address = await segment.get_by_role("group", name="Address").inner_text()
    assert address == f"{site.url}/c/clerk-desk"
    await segment.get_by_role("img", name=f"QR code of {address}").wait_for()
    visitor = await page.context.new_page()
    await visitor.goto(address)
    await visitor.get_by_role("heading", name="Hello! How can I help?").wait_for()
    await page.get_by_label("Greeting", exact=True).fill("Good day, Clerk here.")
    await page.frame_locator("iframe").get_by_role("heading", name="Good day, Clerk here.").wait_for()
    await page.get_by_role("button", name="Save look").click()
    await page.get_by_text("Pages show it within five minutes.").wait_for()
    await visitor.reload()
    await visitor.get_by_role("heading", name="Good day, Clerk here.").wait_for()
    await segment.get_by_role("radio", name="Members only").click()
    await segment.get_by_role("button", name="Save page").click()
    await segment.get_by_text("Saved.").wait_for()
    shown = await site.call("GET", "/api/v1/public/pages/clerk-desk")
    assert (shown["audience"], shown["agent"]) == ("members", None)
    await switch.click(force=True)
    await segment.get_by_text("Switched off.").wait_for()
    await visitor.reload()
    await visitor.get_by_role("heading", name="There is no chat here").wait_for()
    await visitor.close()


async def test_the_page_of_its_own_comes_first_however_late_permissions_are_known(site, page, agent):
    agent_id, _ = agent
    is_shown = asyncio.Event()

    async def answer_late(route):
        await is_shown.wait()
        await route.continue_()

    await page.route("**/me/permissions", answer_late)
    await open_page(site, page, f"/agents/{agent_id}/share")
    await page.get_by_label("Title").wait_for()
    is_shown.set()
    await page.get_by_role("region", name="Hosted page").get_by_label("End of the address").wait_for()


async def test_what_is_typed_while_a_look_is_saved_is_kept(site, page, agent):
    agent_id, _ = agent
    is_typed = asyncio.Event()

    async def save_late(route):
        if route.request.method == "PUT":
            await is_typed.wait()
        await route.continue_()

    await page.route("**/widget", save_late)
    await open_page(site, page, f"/agents/{agent_id}/share")
    await page.get_by_label("Title").fill("Help desk")
    async with page.expect_request(lambda request: request.method == "PUT"):
        await page.get_by_role("button", name="Save look").click()
    await page.get_by_label("Greeting", exact=True).fill("Good day.")
    async with page.expect_response(lambda response: response.request.method == "PUT"):
        is_typed.set()
    await expect(page.get_by_role("button", name="Save look")).not_to_have_attribute("data-loading", "true")
    await expect(page.get_by_label("Greeting", exact=True)).to_have_value("Good day.")
    await expect(page.get_by_label("Title")).to_have_value("Help desk")
    await page.get_by_role("button", name="Save look").click()
    await page.get_by_text("Saved.").wait_for()
    saved = await site.call("GET", f"{AGENTS}/{agent_id}/widget")
    assert (saved["title"], saved["greeting"]) == ("Help desk", "Good day.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_where_a_page_is_set_up(site, page, agent, scheme):
    agent_id, _ = agent
    body = {"slug": f"axe-{scheme}", "audience": "public", "monthly_token_budget": 1_000}
    await site.call("PUT", f"{AGENTS}/{agent_id}/page", body)
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/agents/{agent_id}/share")
    for width in (1440, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.frame_locator("iframe").get_by_role("heading", name="Clerk").wait_for()
        assert await axe(page) == [], width
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
