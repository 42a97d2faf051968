"""Operate in the console: checks, jobs, mails and organizations of the whole server."""

import contextlib
import re
import secrets
import sqlite3
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, new_person, open_page, sign_in_as
from tests.browser.site import Site
from tests.e2e.processes import ServerProcess, free_port


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_overview_says_how_the_server_is(site, page, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/operate")
    await page.get_by_text("all organizations").wait_for()
    checks = page.get_by_role("list", name="Checks")
    shown = await site.call("GET", "/api/v1/operate")
    await checks.get_by_text(shown["versions"]["database"]).wait_for()
    await expect(checks.get_by_role("listitem")).to_have_count(8)
    await checks.get_by_text("no backup was made from here yet").wait_for()
    await page.get_by_role("button", name="Check again").click()
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


async def test_an_organization_is_made_found_and_gets_another_plan(site, page):
    name, email = f"Halden {secrets.token_hex(4)}", f"{secrets.token_hex(4)}@halden.example"
    await open_page(site, page, "/operate/organizations")
    await page.get_by_label("Find an organization").wait_for()
    await page.keyboard.press("c")
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_role("button", name="Create the organization").click()
    await expect(page.get_by_label("Email")).to_have_attribute("aria-invalid", "true")
    assert await axe(page) == []
    await page.get_by_label("First name").fill("Wile")
    await page.get_by_label("Last name").fill("Coyote")
    await page.get_by_label("Email").fill(email)
    await page.get_by_label("Password", exact=True).fill("Roadrunner1")
    await page.get_by_text(f"Makes {name} with the administrator {email}.").wait_for()
    await page.get_by_role("button", name="Create the organization").click()
    panel = page.get_by_role("complementary", name=name)
    await panel.get_by_role("combobox", name="Plan").click()
    await page.get_by_role("option", name="Team").click()
    await panel.get_by_role("button", name="Save").click()
    await page.get_by_text(f"{name} is saved.").wait_for()
    made = (await site.call("GET", f"/api/v1/tenants?search={name[7:]}"))["data"]
    assert [(one["name"], one["plan"]) for one in made] == [(name, "team")]
    assert await axe(page) == []


async def test_another_organization_is_entered_from_its_panel(site, page):
    name, email = f"Halden {secrets.token_hex(4)}", f"{secrets.token_hex(4)}@halden.example"
    admin = {"email": email, "password": "Roadrunner1", "first_name": "Wile", "last_name": "Coyote"}
    made = await site.call("POST", "/api/v1/tenants", {"name": name, "admin": admin})
    await open_page(site, page, f"/operate/organizations?id={made['id']}")
    await page.get_by_role("button", name="Act in this organization").click()
    await page.get_by_role("button", name="Act in the organization").get_by_text(name).wait_for()


def give_up_mails(folder: Path) -> None:
    """Mark the waiting mail as failed for good, as hours of attempts would."""
    with contextlib.closing(sqlite3.connect(folder / "data" / "retinue.db")) as connection, connection:
        connection.execute("UPDATE jobs SET state = 'dead', attempt = 5 WHERE kind = 'mail.send'")


async def test_a_mail_that_was_given_up_is_found_and_tried_again(tmp_path, page):
    smtp = f"smtp://127.0.0.1:{free_port()}"
    async with ServerProcess(tmp_path, RETINUE_SMTP_URL=smtp) as server:
        await server.start()
        site = await Site(server).sign_in()
        await site.call("POST", "/users/invite", {"email": "lukas@example.com", "role": "viewer"})
        await open_page(site, page, "/operate/mails")
        row = page.get_by_role("listitem").filter(has_text="lukas@example.com")
        await row.get_by_text("You are invited").wait_for()
        give_up_mails(tmp_path)
        await page.goto(f"{site.url}/console/operate")
        await page.get_by_text("1 job was given up.").wait_for()
        assert await axe(page) == []
        await page.get_by_role("link", name="Open them").click()
        await page.get_by_role("link", name=re.compile("mail.send")).click()
        panel = page.get_by_role("complementary", name="mail.send")
        assert await axe(page) == []
        await panel.get_by_role("button", name="Run again").click()
        await page.get_by_text("mail.send runs again with all its attempts.").wait_for()
        await page.get_by_role("heading", name="Nothing has failed").wait_for()


async def test_only_super_administrators_see_operate(site, page):
    person = await new_person(site)
    user = (await site.call("GET", f"/users?search={person.email}"))["users"][0]
    await site.call("PUT", f"/users/{user['id']}/role", {"role": "tenant_admin"})
    await sign_in_as(site, page, person, "/operate")
    await page.get_by_text("admin:tenants").wait_for()
    await expect(page.get_by_role("link", name="Operate")).to_have_count(0)
    await expect(page.get_by_role("button", name="Check again")).to_have_count(0)
