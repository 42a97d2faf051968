"""The organization in the console: what it decides, what others decide for it, and its file."""

import re
import secrets
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, Person, axe, new_person, open_page, sign_in_as
from tests.browser.site import Site
from tests.e2e.load import call

ORGANIZATION = "/settings/organization"
FILE = "/settings/organization/file"


async def own_organization(site: Site) -> Person:
    """Return the administrator of an organization of their own, so that tests do not share one."""
    email = f"{secrets.token_hex(6)}@example.com"
    admin = {"email": email, "password": "Second-Step-1", "first_name": "Ada", "last_name": "Sample"}
    await site.call("POST", "/api/v1/tenants", {"name": f"Org {email[:6]}", "plan": "pro", "admin": admin})
    return Person(site, email, admin["password"])


async def asked_by(person: Person, path: str) -> Any:
    port = person.site.server.port
    me = {"email": person.email, "password": person.password}
    _, tokens = await call(port, "POST", "/auth/login", body=me)
    status, answer = await call(port, "GET", path, token=tokens["access_token"])
    assert status == 200, answer
    return answer


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_an_organization_changes_its_name_its_language_and_whom_it_writes_to(site, page, scheme, width):
    admin = await own_organization(site)
    name = f"Brass {secrets.token_hex(3)}"
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await sign_in_as(site, page, admin, ORGANIZATION)
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_role("button", name="Save name").click()
    await page.get_by_text(f"The organization is now called {name}.").wait_for()
    await page.get_by_role("combobox", name="Language of new accounts").click()
    await page.get_by_role("option", name="German").click()
    await page.get_by_text("New accounts begin with this language.").wait_for()
    await page.get_by_role("button", name="Allow domains").click()
    await page.get_by_label("Domains").fill("Customer.example, not a domain")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_label("Domains")).to_have_attribute("aria-invalid", "true")
    await page.get_by_label("Domains").fill("Customer.example\n*.example.org")
    await page.get_by_role("button", name="Save", exact=True).click()
    allowed = "Workflows may write to customer.example, *.example.org, 200 mails a day"
    await page.get_by_text(allowed).wait_for()
    own = await asked_by(admin, "/api/v1/tenant")
    rule = {"domains": ["customer.example", "*.example.org"], "per_day": 200}
    assert (own["name"], own["language"], own["mail_to_outsiders"]) == (name, "de", rule)
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


async def test_what_others_decide_names_who_decides_it(site, page):
    admin = await own_organization(site)
    await sign_in_as(site, page, admin, ORGANIZATION)
    table = page.get_by_role("table", name="Decided elsewhere")
    for begins in ("^Plan Pro A super administrator", "^Sign-up .*RETINUE_SIGNUP"):
        await expect(table.get_by_role("row", name=re.compile(begins))).to_have_count(1)
    await expect(table.get_by_role("link")).to_have_count(0)


async def test_a_file_is_compared_applied_and_taken_along(site, page):
    admin = await own_organization(site)
    await sign_in_as(site, page, admin, FILE)
    agent = "    primary_model: local/smollm2-135m\n    system_prompt: "
    field = page.get_by_label("Paste the file")
    await field.fill(f"retinue: 1\nagents:\n  Desk:\n{agent}You help.\n")
    await page.get_by_role("button", name="Compare").click()
    await page.get_by_role("button", name="Apply 1 change").click()
    assert await axe(page) == []
    await page.get_by_role("dialog").get_by_role("button", name="Apply 1 change").click()
    await page.get_by_text("1 object is applied.").wait_for()

    await field.fill(f"retinue: 1\nagents:\n  Front:\n{agent}You greet.\n")
    await page.get_by_text("Delete what the file does not name").click()
    await page.get_by_role("button", name="Compare").click()
    await page.get_by_text("1 to create, 0 to change, 1 to delete, 0 as they are.").wait_for()
    await page.get_by_role("button", name="Apply 2 changes").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Apply 2 changes")).to_be_disabled()
    await dialog.get_by_label(re.compile("^Type Org")).fill((await asked_by(admin, "/api/v1/tenant"))["name"])
    await dialog.get_by_role("button", name="Apply 2 changes").click()
    await page.get_by_text("2 objects are applied.").wait_for()
    agents = await asked_by(admin, "/api/v1/agents")
    assert [one["name"] for one in agents["data"]] == ["Front"]

    await page.get_by_role("button", name="Agents", exact=True).click()
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download").click()
    saved = await (await download.value).path()
    assert "system_prompt: You greet." in saved.read_text()


async def test_a_difference_shows_each_field_before_and_after(site, page):
    admin = await own_organization(site)
    await sign_in_as(site, page, admin, FILE)
    field = page.get_by_label("Paste the file")
    for prompt in ("You help.", "You help kindly."):
        await field.fill(
            "retinue: 1\nagents:\n  Desk:\n    primary_model: local/smollm2-135m\n"
            f"    system_prompt: {prompt}\n"
        )
        await page.get_by_role("button", name="Compare").click()
        await page.get_by_role("button", name="Apply 1 change").click()
        if prompt == "You help.":
            await page.get_by_role("dialog").get_by_role("button", name="Apply 1 change").click()
            await page.get_by_text("1 object is applied.").wait_for()
    await page.keyboard.press("Escape")
    section = page.get_by_role("region", name="Agents")
    await expect(section.get_by_role("deletion")).to_have_text("You help.")
    await expect(section.get_by_role("insertion")).to_have_text("You help kindly.")
    assert await axe(page) == []


async def test_a_file_that_cannot_be_applied_says_which_object_is_wrong(site, page):
    await open_page(site, page, FILE)
    await page.get_by_label("Paste the file").fill(
        "retinue: 1\nagents:\n  Desk:\n    primary_model: local/smollm2-135m\n    system_prompt: x\n"
        '    tools:\n    - tool: "@tools/missing"\n'
    )
    await page.get_by_role("button", name="Compare").click()
    alert = page.get_by_role("alert").filter(has_text="The file cannot be applied: 1 problem")
    await expect(alert).to_contain_text("agents/Desk: tools.0.tool")
    await expect(page.get_by_role("button", name=re.compile("^Apply"))).to_have_count(0)


async def test_a_viewer_is_told_who_can_open_the_organization(site, page):
    person = await new_person(site)
    user = (await site.call("GET", f"/users?search={person.email}"))["users"][0]
    await site.call("PUT", f"/users/{user['id']}/role", {"role": "viewer"})
    await sign_in_as(site, page, person, ORGANIZATION)
    await page.get_by_text("admin:users").wait_for()
    await expect(page.get_by_role("button", name="Save name")).to_have_count(0)
