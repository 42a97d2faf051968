"""Service accounts in the console: created with a secret shown once, rotated, disabled and deleted."""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, open_page


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_an_account_is_created_rotated_disabled_and_deleted(site, page, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/settings/service-accounts")
    await axe(page)
    await page.get_by_role("button", name="New service account").first.click()
    dialog = page.get_by_role("dialog")
    create = dialog.get_by_role("button", name="Create and show the secret")
    await dialog.get_by_label("Name").fill("Deployment")
    await expect(create).to_be_disabled()
    await dialog.get_by_role("button", name="Choose").click()
    await expect(dialog.get_by_label("service_accounts:write")).to_have_count(0)
    await expect(dialog.get_by_label("admin:roles")).to_have_count(0)
    await dialog.get_by_label("workflows:execute").check()
    await dialog.get_by_label("Allowed addresses").fill("nowhere")
    await axe(page)
    await create.click()
    await dialog.get_by_text("Entry 1: Must be an address or a network").wait_for()
    await expect(dialog.get_by_label("Allowed addresses")).to_be_focused()
    await dialog.get_by_label("Allowed addresses").fill("127.0.0.0/8")
    await create.click()

    secret = page.get_by_role("group", name="Client secret")
    await expect(secret).to_contain_text(re.compile(r"^rcs_[\w-]{43}$"))
    text = await secret.text_content()
    client_id = await page.get_by_role("group", name="Client id").text_content()
    await axe(page)
    await page.keyboard.press("Escape")
    await expect(secret).to_be_visible()
    proof = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": text}
    answer = await page.request.post(f"{site.url}/auth/token", form=proof)
    assert (answer.status, (await answer.json())["scope"]) == (200, "workflows:execute")
    await page.get_by_role("button", name="I have stored it").click()
    assert text not in await page.content(), "a secret is shown once"

    row = page.get_by_role("listitem").filter(has_text="Deployment")
    await expect(row).to_contain_text("Active")
    await expect(row).to_contain_text("1 permission")
    await row.get_by_role("button", name="Secrets").click()
    await page.get_by_role("button", name="New secret").click()
    await page.get_by_role("button", name="I have stored it").click()
    await row.get_by_role("button", name="Secrets").click()
    await expect(page.get_by_role("button", name="New secret")).to_be_disabled()
    await page.get_by_role("button", name=f"Delete {text[:12]}").click()
    asked = page.get_by_role("dialog", name=re.compile("^Delete the secret"))
    await asked.get_by_text("Programs that use it can no longer sign in.").wait_for()
    await axe(page)
    await asked.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("button", name="New secret")).to_be_enabled()
    refused = await page.request.post(f"{site.url}/auth/token", form=proof)
    assert refused.status == 400
    await page.keyboard.press("Escape")

    actions = row.get_by_role("button", name="Actions for Deployment")
    await actions.click()
    await page.get_by_role("menuitem", name="Disable").click()
    await page.get_by_role("dialog", name="Disable Deployment?").get_by_role("button", name="Disable").click()
    await expect(row).to_contain_text("Disabled")
    await actions.click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_label("Type Deployment to confirm").fill("Deployment")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("No service accounts yet")).to_be_visible()


async def test_a_preset_and_a_name_make_access_that_works_as_it_is_shown(site, page):
    await open_page(site, page, "/settings/service-accounts")
    await page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Dashboard")
    await dialog.get_by_role("button", name="Read only").click()
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Create and show the secret").click()
    command = await page.get_by_role("group", name="Try it: gets a token").text_content()
    shell = await asyncio.create_subprocess_exec("sh", "-c", str(command), stdout=asyncio.subprocess.PIPE)
    answer, _ = await shell.communicate()
    allowed = json.loads(answer)["permissions"]
    assert "agents:read" in allowed
    assert all(key.endswith(":read") for key in allowed), allowed
    assert await axe(page) == []
    await page.get_by_role("button", name="I have stored it").click()


async def test_nobody_is_offered_a_preset_beyond_their_own_permissions(site, page):
    held = ["agents:read", "service_accounts:read", "service_accounts:write"]
    await page.route(
        "**/me/permissions", lambda route: route.fulfill(json={"role": "x", "permissions": held})
    )
    await open_page(site, page, "/settings/service-accounts?create=true")
    presets = page.get_by_role("group", name="What the program may do")
    await expect(presets.get_by_role("button", name="Chat only")).to_have_count(0)
    await expect(presets.get_by_role("button", name="Everything I may")).to_contain_text("2")
