"""People in the console: found, invited, admitted, given roles and links, signed out, locked out."""

import re
import secrets
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, Person, axe, new_person, open_page
from tests.browser.site import Site
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess

PEOPLE = "/settings/people"


async def person_called(site: Site, first_name: str) -> tuple[Person, str]:
    """Return somebody with a name of their own, and the id."""
    person = await new_person(site)
    user = (await site.call("GET", f"/users?search={person.email}"))["users"][0]
    sign_in = {"email": person.email, "password": person.password}
    _, tokens = await call(site.server.port, "POST", "/auth/login", body=sign_in)
    names = {"first_name": first_name, "last_name": "Tanaka"}
    status, answer = await call(
        site.server.port, "PUT", "/api/v1/profile", token=tokens["access_token"], body=names
    )
    assert status == 200, answer
    return person, user["id"]


async def open_panel(page: Any, name: str) -> Any:
    await page.get_by_label("Find a person").fill(name)
    await page.get_by_role("link", name=re.compile(name)).click()
    panel = page.get_by_role("complementary", name=re.compile(name))
    await panel.wait_for()
    return panel


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_person_gets_a_role_a_link_and_is_signed_out(site, page, scheme, width):
    name = f"Mei{secrets.token_hex(3)}"
    person, user_id = await person_called(site, name)
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, PEOPLE)
    panel = await open_panel(page, name)
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert f"person={user_id}" in page.url

    await panel.get_by_label("Role", exact=True).last.click()
    await page.get_by_role("option", name="Viewer").click()
    await panel.get_by_text("Reads, and changes nothing").wait_for()
    await panel.get_by_role("button", name="Change role").click()
    await page.get_by_text(f"{name} Tanaka now has the role Viewer.").wait_for()
    assert (await site.call("GET", f"/users/{user_id}"))["role"] == "viewer"

    await panel.get_by_role("button", name=re.compile("^End the session")).first.click()
    await panel.get_by_text("Not signed in anywhere.").wait_for()
    assert (await site.call("GET", f"/users/{user_id}/sessions"))["data"] == []

    await panel.get_by_role("button", name=re.compile("^More actions")).click()
    await page.get_by_role("menuitem", name="Link to a new password").click()
    dialog = page.get_by_role("dialog", name=re.compile("^A new password"))
    await dialog.get_by_role("button", name="Create the link").click()
    await expect(dialog.get_by_role("group", name=re.compile("^Link for"))).to_contain_text("reset-password")
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Close").last.click()

    await panel.get_by_role("button", name="Deactivate").click()
    await page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    await panel.get_by_text("nobody can sign in with this account").wait_for()
    await panel.get_by_role("button", name="Reactivate").click()
    await panel.get_by_role("button", name="Deactivate").wait_for()
    await panel.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Delete"))
    await dialog.get_by_label(f"Type {person.email} to confirm").fill(person.email)
    await dialog.get_by_role("button", name="Delete…").click()
    await expect(panel).to_have_count(0)
    await page.get_by_role("heading", name="Nothing found").wait_for()


async def test_several_are_invited_at_once_and_invitations_are_sent_again_and_revoked(site, page):
    mark = secrets.token_hex(4)
    await open_page(site, page, PEOPLE)
    await page.keyboard.press("c")
    field = page.get_by_label("Email addresses")
    await field.fill(f"a-{mark}@new.example, admin@example.com\nb-{mark}@new.example")
    await page.get_by_role("button", name="Invite", exact=True).last.click()
    await page.get_by_text("admin@example.com: An account with this email address already exists").wait_for()
    await expect(field).to_have_value("admin@example.com")
    first = page.get_by_role("group", name=f"Invitation link for a-{mark}@new.example")
    old_link = await first.inner_text()
    await page.get_by_role("group", name=f"Invitation link for b-{mark}@new.example").wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")

    invited = page.get_by_role("region", name="Invited")
    row = invited.get_by_role("listitem").filter(has_text=f"a-{mark}@new.example")
    await row.get_by_text("invited by: You").wait_for()
    await row.get_by_role("button", name=re.compile("^Send again")).click()
    link = row.get_by_role("group", name=re.compile("^New invitation link"))
    await expect(link).to_contain_text("invite_token=")
    assert await link.inner_text() != old_link
    assert await axe(page) == []
    await row.get_by_role("button", name=re.compile("^Revoke")).click()
    await expect(row).to_have_count(0)
    kept = await site.call("GET", f"/users/invitations?search={mark}")
    assert [one["email"] for one in kept["data"]] == [f"b-{mark}@new.example"]


async def test_nobody_changes_their_own_role(site, page):
    await open_page(site, page, PEOPLE)
    await page.get_by_label("Find a person").fill("admin@example.com")
    await page.get_by_role("link", name=re.compile("admin@example.com")).click()
    panel = page.get_by_role("complementary").last
    await panel.get_by_text(
        re.compile("You are the only one with this role|You cannot change your own role")
    ).wait_for()
    await expect(panel.get_by_role("button", name="Deactivate")).to_have_count(0)
    await expect(panel.get_by_label("Role", exact=True).get_by_role("textbox")).to_have_count(0)
    assert await axe(page) == []


async def test_filters_stand_in_the_address_and_the_panel_opens_from_it(site, page):
    name = f"Jonas{secrets.token_hex(3)}"
    _, user_id = await person_called(site, name)
    await open_page(site, page, f"{PEOPLE}?role=viewer&search={name}")
    await page.get_by_role("heading", name="Nothing found").wait_for()
    await page.get_by_role("button", name="Clear filters").last.click()
    await page.goto(f"{site.url}/console{PEOPLE}?state=inactive&person={user_id}")
    panel = page.get_by_role("complementary", name=re.compile(name))
    await panel.wait_for()
    await page.keyboard.press("Escape")
    await expect(panel).to_have_count(0)
    assert page.url.endswith("state=inactive")


async def test_who_registered_is_approved_or_rejected(tmp_path, page):
    async with ServerProcess(tmp_path, RETINUE_SIGNUP="pending") as server:
        await server.start()
        site = await Site(server).sign_in()
        welcome, unwanted = [await new_person(site) for _ in range(2)]
        await open_page(site, page, PEOPLE)
        waiting = page.get_by_role("region", name="Waiting for approval")
        await waiting.get_by_text("2 accounts registered by themselves").wait_for()
        assert await axe(page) == []
        row = waiting.get_by_role("listitem").filter(has_text=welcome.email)
        await row.get_by_role("button", name="Approve").click()
        await expect(row).to_have_count(0)
        row = waiting.get_by_role("listitem").filter(has_text=unwanted.email)
        await row.get_by_role("button", name="Reject").click()
        dialog = page.get_by_role("dialog", name=re.compile("^Reject"))
        await dialog.get_by_role("button", name="Reject").click()
        await expect(waiting).to_have_count(0)
        users = (await site.call("GET", "/users"))["users"]
        assert {(one["email"], one["is_pending"]) for one in users} == {
            (welcome.email, False),
            ("admin@example.com", False),
        }
