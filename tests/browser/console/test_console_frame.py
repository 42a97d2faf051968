"""Tests of the frame around every screen of the console: language, palette, permissions, live lists."""

import re
from typing import Any

from tests.browser.console.steps import AGENTS, axe, new_person, open_page, sign_in_as

AGENT = {"primary_model": "local/smollm2-135m", "system_prompt": "You help."}
PHONE = {"width": 390, "height": 844}
GERMAN = {
    "/agents": "Agenten",
    "/approvals": "Genehmigungen",
    "/conversations": "Unterhaltungen",
    "/inbox": "Posteingang",
    "/profile": "Profil und Sicherheit",
}


async def overflow(page: Any) -> int:
    """Return by how many pixels the page is wider than its window."""
    return await page.evaluate("document.documentElement.scrollWidth - innerWidth")


async def test_the_console_speaks_german_and_fits_a_phone(site, page):
    await open_page(site, page, "/profile")
    await page.get_by_role("radiogroup", name="Language").get_by_text("Deutsch").click()
    await page.get_by_role("heading", name="Profil und Sicherheit").wait_for()
    await page.set_viewport_size(PHONE)
    for path, heading in GERMAN.items():
        await page.goto(f"{site.url}/console{path}")
        await page.get_by_role("heading", name=heading, exact=True).wait_for()
        assert await page.evaluate("document.documentElement.lang") == "de"
        assert await overflow(page) <= 0, path
        assert await axe(page) == [], path
    # A refusal of the server, which itself speaks English.
    await page.goto(f"{site.url}/console/agents/agt_missing")
    await page.get_by_text("Diesen Agenten gibt es nicht.").wait_for()
    await page.goto(f"{site.url}/console/profile")
    await page.get_by_role("radiogroup", name="Sprache").get_by_text("English").click()
    await page.get_by_role("heading", name="Profile and security").wait_for()


async def test_the_palette_finds_objects_and_places(site, page):
    agent = await site.call("POST", AGENTS, {**AGENT, "name": "Zebra clerk"})
    await open_page(site, page, "/inbox")
    await page.keyboard.press("Control+k")
    field = page.get_by_placeholder("Search or run a command")
    await field.fill("zebra")
    await page.get_by_text("Zebra clerk").wait_for()
    assert await axe(page) == []
    await field.fill(">zebra")
    await page.get_by_text("Nothing has that name").wait_for()
    await field.fill(agent["id"])
    await page.get_by_text("Zebra clerk").click()
    await page.get_by_role("heading", name="Zebra clerk").wait_for()


async def test_a_list_shows_what_others_change_without_a_reload(site, page):
    await open_page(site, page, "/agents?search=Appearing")
    await page.get_by_text("Nothing found").wait_for()
    await site.call("POST", AGENTS, {**AGENT, "name": "Appearing agent"})
    await page.get_by_role("link", name="Appearing agent").wait_for()


async def test_who_lacks_a_permission_reads_who_can_give_it_and_asks(site, page):
    person = await new_person(site)
    await page.route(
        "**/api/v1/agents?**",
        lambda route: route.fulfill(
            status=403,
            json={
                "error": {
                    "code": "forbidden",
                    "message": "x",
                    "details": {"required": "webhooks:write", "your_role": "agent_user"},
                }
            },
        ),
    )
    await sign_in_as(site, page, person, "/agents")
    await page.get_by_role("heading", name="You cannot see this").wait_for()
    await page.get_by_text("can give it to you").wait_for()
    await page.get_by_role("button", name="Ask for it").click()
    await page.get_by_label("What you need it for").fill("I connect the shop")
    assert await axe(page) == []
    await page.get_by_role("button", name="Send request").click()
    await page.get_by_text("The administrators are notified").wait_for()


async def test_a_super_administrator_acts_in_another_organization(site, page):
    boss = {"email": "boss@northwind.example", "password": "North-Wind-1"}
    admin = {**boss, "first_name": "B", "last_name": "O"}
    made = await site.call("POST", "/api/v1/tenants", {"name": "Northwind", "admin": admin})
    await open_page(site, page, "/agents")
    await page.get_by_role("button", name="Act in the organization").click()
    await page.get_by_role("menuitem", name="Northwind").click()
    await page.get_by_role("button", name="Act in the organization").get_by_text("Northwind").wait_for()
    await page.get_by_role("navigation").get_by_role("link", name="Agents").click()
    await page.get_by_role("heading", name="Who should work for you?").wait_for()
    assert await axe(page) == []
    assert made


async def test_someone_changes_their_name_and_what_they_hear_of(site, page):
    person = await new_person(site)
    await sign_in_as(site, page, person, "/profile")
    await page.get_by_label("First name").fill("Augusta")
    await page.get_by_role("button", name="Save name").click()
    await page.get_by_role("button", name="Account of Augusta Sample").wait_for()
    await page.goto(f"{site.url}/console/inbox")
    await page.get_by_role("link", name="Notification preferences").click()
    box = page.get_by_role("checkbox", name="Approval requested: Email")
    await box.uncheck()
    assert await axe(page) == []
    await page.reload()
    await box.wait_for()
    assert not await box.is_checked()


async def test_the_palette_lists_this_page_first_then_places_then_what_can_be_created(site, page):
    await open_page(site, page, "/tools")
    await page.keyboard.press("Control+k")
    await page.get_by_placeholder("Search or run a command").wait_for()
    groups = page.locator(".mantine-Spotlight-actionsGroup")
    names = [await one.evaluate("e => getComputedStyle(e, '::before').content") for one in await groups.all()]
    order = [name.strip('"') for name in names if name != '"Needs you"']
    assert order == ["On this page", "Places", "Create and settings"]
    entries = await page.locator(".mantine-Spotlight-action").all_inner_texts()
    assert entries.index("New tool\nC") < entries.index("Settings \u203a Roles")
    assert {"Settings \u203a People", "Settings \u203a Service accounts", "Invite a colleague"} <= set(
        entries
    )
    assert await axe(page) == []


async def test_the_palette_presses_the_buttons_of_the_bar_and_opens_guides_and_the_reference(site, page):
    await open_page(site, page, "/settings/service-accounts")
    field = page.get_by_placeholder("Search or run a command")
    await page.keyboard.press("Control+k")
    await field.fill(">new service")
    await page.locator(".mantine-Spotlight-action").first.click()
    await page.get_by_role("dialog", name="New service account").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog").wait_for(state="detached")
    await page.keyboard.press("Control+k")
    await field.fill("backup restore")
    async with page.context.expect_page() as opened:
        await page.get_by_text("Backup, restore, upgrade").click()
    assert (await opened.value).url.endswith("/docs/guides/backup.md")
    await page.keyboard.press("Control+k")
    await field.fill("openapi")
    await page.locator(".mantine-Spotlight-action").first.click()
    await page.get_by_role("heading", name="API reference").wait_for()


async def test_the_key_c_creates_an_object_of_any_kind_that_the_role_permits(site, page):
    await open_page(site, page, "/inbox")
    await page.keyboard.press("c")
    items = await page.get_by_role("menuitem").all_inner_texts()
    assert items.index("New agent") < items.index("New tool") < items.index("Invite a colleague")
    assert await axe(page) == []
    await page.get_by_role("menuitem", name="New tool").click()
    await page.wait_for_url("**/console/tools/new")


async def test_who_may_create_nothing_has_no_such_button_and_no_such_entry(site, page):
    person = await new_person(site)
    users = await site.call("GET", f"/users?search={person.email}")
    await site.call("PUT", f"/users/{users['users'][0]['id']}/role", {"role": "viewer"})
    await sign_in_as(site, page, person, "/inbox")
    await page.get_by_role("heading", name="Inbox").wait_for()
    await page.keyboard.press("Control+k")
    await page.get_by_placeholder("Search or run a command").wait_for()
    entries = await page.locator(".mantine-Spotlight-action").all_inner_texts()
    assert any(entry.startswith("Agents") for entry in entries)
    assert [entry for entry in entries if re.match("New|Invite|Connect|Settings|Credentials", entry)] == []
    assert await page.get_by_role("button", name="Create", exact=True).count() == 0
