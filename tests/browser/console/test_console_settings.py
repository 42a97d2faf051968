"""Settings in the console: one entry with tabs, and what the roles may."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, new_person, open_page, sign_in_as


async def test_settings_is_one_entry_whose_tabs_the_keys_and_the_palette_reach(site, page):
    await open_page(site, page, "/inbox")
    entry = page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings")
    await entry.wait_for()
    await page.keyboard.type("gs")
    tabs = page.get_by_role("navigation", name="Parts of the settings")
    await expect(tabs.get_by_role("link", name="People")).to_have_attribute("aria-current", "page")
    await page.keyboard.type("gm")
    await expect(tabs.get_by_role("link", name="Models and keys")).to_have_attribute("aria-current", "page")
    await expect(entry).to_have_attribute("aria-current", "page")
    await page.keyboard.press("Control+k")
    await page.get_by_placeholder("Search or run a command").fill("roles")
    await page.get_by_role("button", name=re.compile("^Settings . Roles")).click()
    await expect(tabs.get_by_role("link", name="Roles")).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/models", "/settings/models"),
        ("/models?add=true", "/settings/models?add=true"),
        ("/service-accounts", "/settings/service-accounts"),
        ("/settings", "/settings/people"),
    ],
)
async def test_an_old_address_leads_to_the_tab(site, page, old, new):
    await open_page(site, page, old)
    await page.wait_for_url(f"{site.url}/console{new}")


async def test_who_may_see_no_tab_has_no_entry(site, page):
    await sign_in_as(site, page, await new_person(site), "/inbox")
    await page.get_by_role("heading", name="Inbox").wait_for()
    main = page.get_by_role("navigation", name="Main")
    await main.get_by_role("link", name="Agents").wait_for()
    await expect(main.get_by_role("link", name="Settings")).to_have_count(0)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_role_gains_and_loses_permissions_after_a_review_in_words(site, page, scheme, width):
    before = (await site.call("GET", "/roles/viewer/permissions"))["permissions"]
    assert "agents:chat" not in before
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/settings/roles")
    box = page.get_by_role("checkbox", name="Viewer: Agents: chat")
    await box.check()
    await page.get_by_role("checkbox", name="Viewer: Events: see").uncheck()
    bar = page.get_by_role("region", name="Changes that are not saved")
    await expect(bar).to_contain_text(re.compile(r"Viewer.*gains Agents: chat\..*loses Events: see\."))
    await expect(bar).to_contain_text("in all organizations")
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    await page.get_by_role("button", name="Only differences").click()
    await expect(page.get_by_role("checkbox", name="Viewer: Agents: see")).to_have_count(0)
    await bar.get_by_role("button", name="Review and save…").click()
    dialog = page.get_by_role("dialog", name="Change what roles may")
    await dialog.get_by_text("gains Agents: chat.").wait_for()
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Save").click()
    await page.get_by_text("The roles are changed.").wait_for()
    await expect(bar).to_have_count(0)
    after = (await site.call("GET", "/roles/viewer/permissions"))["permissions"]
    assert set(after) == {*before, "agents:chat"} - {"events:read"}
    await site.call("PUT", "/roles/viewer/permissions", {"permissions": before})


async def test_an_administrator_reads_what_roles_may_and_changes_nothing(site, page):
    person = await new_person(site)
    user = (await site.call("GET", f"/users?search={person.email}"))["users"][0]
    await site.call("PUT", f"/users/{user['id']}/role", {"role": "tenant_admin"})
    await sign_in_as(site, page, person, "/settings/roles")
    await page.get_by_text("only a super administrator changes them").wait_for()
    await page.get_by_role("table").get_by_text("agents:chat").wait_for()
    await expect(page.get_by_role("checkbox")).to_have_count(0)
    assert await axe(page) == []
