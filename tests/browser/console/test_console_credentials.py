"""Credentials in the console: created, revealed for a while, rotated, limited by rules and deleted."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, open_page

CREDENTIALS = "/v1/credentials"


async def new_credential(site, name: str) -> str:
    body = {"name": name, "type": "api_key", "secrets": {"api_key": "key-that-nobody-knows-0001"}}
    return (await site.call("POST", CREDENTIALS, body))["data"]["id"]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_credential_is_created_in_the_browser(site, page, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/credentials/new")
    await axe(page)
    create = page.get_by_role("button", name="Create credential")
    await expect(create).to_be_disabled()
    await page.get_by_label("Name").fill(f"Parcels {scheme} {width}")
    await create.click()
    await expect(page.get_by_label("api_key", exact=True)).to_have_attribute("aria-invalid", "true")
    await page.get_by_label("api_key", exact=True).fill("parcels-key-000000001234")
    await create.click()
    await expect(page.get_by_role("heading", name=f"Parcels {scheme} {width}")).to_be_visible()
    await expect(page.get_by_text("1234")).to_be_visible()
    assert "parcels-key-000000001234" not in await page.content()
    await axe(page)


async def test_secrets_are_revealed_until_they_are_hidden(site, page):
    id = await new_credential(site, "Revealed")
    await open_page(site, page, f"/credentials/{id}")
    secret = page.get_by_text("key-that-nobody-knows-0001")
    await page.get_by_role("button", name="Reveal").click()
    await expect(secret).to_be_visible()
    await expect(page.get_by_role("timer")).to_be_visible()
    await axe(page)
    await page.get_by_role("button", name="Hide now").click()
    await expect(secret).to_have_count(0)
    await page.reload()
    await expect(page.get_by_role("list", name="What was done").get_by_text("Revealed")).to_be_visible()


async def test_what_a_test_shows_stands_beside_its_button(site, page):
    id = await new_credential(site, "Tried")
    await open_page(site, page, f"/credentials/{id}")
    said = (await site.call("POST", f"{CREDENTIALS}/{id}/test"))["data"]["message"]
    await page.get_by_role("button", name="Test", exact=True).click()
    await expect(page.get_by_role("status").filter(has_text=said)).to_be_visible()


async def test_the_first_rule_says_that_it_shuts_out_everything_else(site, page):
    id = await new_credential(site, "Ruled")
    await open_page(site, page, f"/credentials/{id}")
    await expect(page.get_by_text("No rules yet")).to_be_visible()
    await page.get_by_role("button", name="Add rule").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("This is the first rule")).to_be_visible()
    await dialog.get_by_label("Kind").click()
    await page.get_by_role("option", name="Role").click()
    await dialog.get_by_label("Which one").click()
    await expect(page.get_by_role("option")).to_have_text(
        ["Super administrator", "Administrator", "Developer", "User", "Viewer"]
    )
    await page.get_by_role("option", name="Developer").click()
    await axe(page)
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(page.get_by_text("Everything else in the organization is refused.")).to_be_visible()
    await page.get_by_role("button", name=re.compile("^Remove the rule for")).click()
    await dialog.get_by_text("Without any rule everything in the organization may use").wait_for()
    assert len((await site.call("GET", f"{CREDENTIALS}/{id}/access"))["data"]) == 1
    await dialog.get_by_role("button", name="Remove and open to all").click()
    await expect(page.get_by_text("No rules yet")).to_be_visible()
    await expect(dialog).to_have_count(0)


async def test_entered_secrets_stay_with_their_type_and_are_not_left_without_a_question(site, page):
    await open_page(site, page, "/credentials/new")
    await page.get_by_label("api_key", exact=True).fill("parcels-key")
    for type_ in ("SSH", "API key"):
        await page.get_by_role("combobox", name="Type").click()
        await page.get_by_role("option", name=type_).click()
    await expect(page.get_by_label("api_key", exact=True)).to_have_value("parcels-key")
    await page.get_by_role("link", name="Cancel").click()
    await page.get_by_role("dialog").get_by_role("button", name="Leave without saving").click()
    await expect(page).to_have_url(re.compile("/credentials$"))


async def test_a_credential_is_rotated_and_deleted(site, page):
    id = await new_credential(site, "Old shop")
    await open_page(site, page, f"/credentials/{id}")
    await page.get_by_role("button", name="Rotate").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("api_key", exact=True).fill("rotated-key-000000005678")
    await dialog.get_by_role("button", name=re.compile("^Rotate")).click()
    await expect(page.get_by_text("version 2")).to_be_visible()
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_label("Type Old shop to confirm").fill("Old shop")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(re.compile("/credentials$"))


async def test_secrets_that_the_service_refuses_replace_nothing_until_somebody_insists(site, page):
    id = await new_credential(site, "Kept shop")
    tested: list[object] = []

    async def refuse_new_secrets(route):
        body = route.request.post_data_json
        tested.append(body)
        verdict = {"success": not body, "message": "The service answers 401.", "is_valid": not body}
        await route.fulfill(json={"data": verdict} | verdict)

    await page.route("**/v1/credentials/*/test", refuse_new_secrets)
    await open_page(site, page, f"/credentials/{id}")
    await page.get_by_role("button", name="Rotate").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("api_key", exact=True).fill("refused-key-000000001111")
    await dialog.get_by_role("button", name=re.compile("^Rotate")).last.click()
    await dialog.get_by_text("so the old ones stay. The service answers 401.").wait_for()
    assert tested == [{"secrets": {"api_key": "refused-key-000000001111"}}]
    assert (await site.call("GET", f"/v1/credentials/{id}"))["data"]["version"] == 1
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Rotate anyway").click()
    await expect(page.get_by_text("version 2")).to_be_visible()


async def test_the_list_of_credentials_is_filtered_by_type_and_name(site, page):
    await new_credential(site, "Filtered key")
    await open_page(site, page, "/credentials?type=api_key&search=Filtered")
    await expect(page.get_by_role("row").filter(has_text="Filtered key")).to_be_visible()
    await axe(page)
    await page.goto(f"{site.url}/console/credentials?type=ssh&search=Filtered")
    await page.get_by_role("button", name="Clear filters").last.click()
    await expect(page.get_by_role("row").filter(has_text="Filtered key")).to_be_visible()
