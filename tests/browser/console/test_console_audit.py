"""The audit log in the console: read, asked, verified, exported and sent on."""

import json
import re
import secrets
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, new_person, open_page
from tests.browser.site import Site
from tests.tools.servers.rest_api import rest_api

AUDIT = "/settings/audit"


async def role_changed(site: Site) -> str:
    """Return the id of a person whose role the administrator has just changed."""
    person = await new_person(site)
    user_id = (await site.call("GET", f"/users?search={person.email}"))["users"][0]["id"]
    await site.call("PUT", f"/users/{user_id}/role", {"role": "viewer"})
    return user_id


async def open_newest(page: Any, action: str) -> Any:
    await page.get_by_role("link", name=re.compile(action)).first.click()
    panel = page.get_by_role("complementary", name=action)
    await panel.wait_for()
    return panel


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_an_entry_says_what_changed_who_did_it_and_leads_to_its_like(site, page, scheme, width):
    user_id = await role_changed(site)
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"{AUDIT}?subject={user_id}")
    panel = await open_newest(page, "Changed the role of somebody")
    await expect(panel.get_by_role("deletion")).to_have_text("agent_user")
    await expect(panel.get_by_role("insertion")).to_have_text("viewer")
    await expect(panel.get_by_text("You", exact=True)).to_have_count(1)
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    await panel.get_by_role("button", name="The same action").click()
    await expect(page).to_have_url(re.compile(r"action=system\.user\.role_changed"))
    await page.keyboard.press("Escape")
    await expect(panel).to_have_count(0)
    await expect(page.get_by_role("row")).to_have_count(2)


async def test_the_log_is_asked_by_area_day_and_outcome(site, page):
    await role_changed(site)
    await open_page(site, page, AUDIT)
    action = page.get_by_role("combobox", name="Action")
    await action.click()
    await action.fill("Everything: People")
    await page.get_by_role("option", name="Everything: People").click()
    await page.get_by_role("link", name=re.compile("Changed the role of somebody")).first.wait_for()
    await expect(page.get_by_role("link", name=re.compile("Signed in"))).to_have_count(0)
    await page.get_by_text("Refusals").click()
    await page.get_by_role("heading", name="Nothing found").wait_for()
    assert await axe(page) == []
    await page.get_by_role("button", name="Clear filters").last.click()
    await page.get_by_role("link", name=re.compile("Signed in")).first.wait_for()
    await page.get_by_label("Until this day").fill("2020-01-01")
    await page.get_by_role("heading", name="Nothing found").wait_for()
    assert page.url.endswith("?to=2020-01-01")


async def test_the_chain_is_verified_and_exported(site, page):
    await open_page(site, page, AUDIT)
    await page.get_by_role("button", name="Verify").click()
    verdict = await site.call("GET", "/api/v1/audit/verify")
    await page.get_by_text(re.compile("^The log is intact: ")).wait_for()
    assert verdict["intact"]
    assert await axe(page) == []
    await page.get_by_role("button", name="Export").click()
    assert await axe(page) == []
    async with page.expect_download() as download:
        await page.get_by_role("menuitem", name=re.compile("Signed rows")).click()
    lines = (await (await download.value).path()).read_text().splitlines()
    assert json.loads(lines[0])["sequence"] == 1
    assert "manifest" in json.loads(lines[-1])
    await page.get_by_text("The log is saved. The export is an entry of it.").wait_for()


async def test_a_receiver_is_added_tested_paused_and_deleted(site, page):
    name = f"SIEM {secrets.token_hex(3)}"
    async with rest_api() as remote:
        await open_page(site, page, f"{AUDIT}/receivers")
        await page.get_by_role("button", name="Add a receiver").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill(name)
        await dialog.get_by_label("Address").fill(f"{remote.url}/scripted")
        await dialog.get_by_label("Headers").fill("Authorization Bearer its-token")
        await dialog.get_by_text("“Authorization Bearer its-token” is no header.").wait_for()
        await dialog.get_by_label("Headers").fill("Authorization: Bearer its-token")
        assert await axe(page) == []
        await dialog.get_by_role("button", name="Add a receiver").click()
        secret = page.get_by_role("dialog", name=f"Secret of {name}")
        await expect(secret.get_by_role("group", name="Signing secret")).to_contain_text("whsec_")
        await secret.get_by_role("button", name="I have stored it").click()
        row = page.get_by_role("listitem").filter(has_text=name)
        await row.get_by_role("button", name="Test").click()
        await row.get_by_role("status").wait_for()
        assert remote.seen[0].headers["Authorization"] == "Bearer its-token"
        await row.get_by_role("switch").locator("..").click()
        await row.get_by_text("Paused").wait_for()
        assert await axe(page) == []
        await row.get_by_role("button", name=re.compile("^More actions")).click()
        await page.get_by_role("menuitem", name="Delete").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(row).to_have_count(0)
