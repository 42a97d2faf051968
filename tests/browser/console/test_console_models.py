"""Models and keys in the console: adding, testing, replacing, deleting; servers found on this machine."""

import re
import socket

import pytest
from playwright.async_api import Page, expect

from tests.adapters.llm_server import KEY, ProviderServer, provider_server
from tests.browser.console.steps import axe, open_page
from tests.providers.keyless_server import TAGS, KeylessServer

OLLAMA_PORT = 11434


async def add_key(page: Page, provider: ProviderServer, key: str) -> None:
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Key", exact=True).fill(key)
    await dialog.get_by_role("combobox", name="Provider").click()
    await page.get_by_role("option", name="OpenAI-compatible server").click()
    await dialog.get_by_label("Address").fill(f"{provider.url}/v1")
    await dialog.get_by_role("button", name="Add and test").click()


async def test_a_server_that_moved_is_reached_at_its_new_address_with_its_key(site, page, provider):
    async with provider_server() as moved:
        body = {
            "provider": "openai_compatible",
            "name": "Movers",
            "api_key": KEY,
            "base_url": f"{provider.url}/v1",
        }
        key = await site.call("POST", "/api/v1/api-keys", body)
        await open_page(site, page, "/settings/models")
        row = page.get_by_role("listitem").filter(has_text="Movers")
        await row.get_by_role("button", name=re.compile("Actions for")).click()
        await page.get_by_role("menuitem", name="Change the address").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("New address").fill(f"{moved.url}/v1")
        button = dialog.get_by_role("button", name="Change and test")
        await expect(button).to_be_disabled()
        await dialog.get_by_label("New key").fill(KEY)
        assert await axe(page) == []
        await button.click()
        await expect(dialog).to_have_count(0)
        await expect(row).to_contain_text(f"{moved.url}/v1")
        await expect(row).to_contain_text("Working")
    await site.call("DELETE", f"/api/v1/api-keys/{key['id']}?force=true")


@pytest.mark.journey
async def test_a_key_is_added_tested_replaced_turned_off_and_deleted(site, page, provider):
    await open_page(site, page, "/settings/models")
    await page.get_by_role("button", name="Add a key").first.click()
    await add_key(page, provider, "wrong-key")
    await expect(page.get_by_role("alert")).to_contain_text("The key was not stored.")
    await page.get_by_role("dialog").get_by_label("Key", exact=True).fill(KEY)
    await page.get_by_role("dialog").get_by_role("button", name="Add and test").click()
    await page.get_by_text(re.compile("Agents can use them now")).wait_for()
    await page.get_by_role("button", name="Done").click()
    row = page.get_by_role("listitem").filter(has_text=provider.url)
    await expect(row).to_contain_text("Working")
    assert KEY not in await page.content(), "a secret is written, never shown"
    await row.get_by_role("button", name="Test OpenAI-compatible server").click()
    await expect(row).to_contain_text(re.compile(r"Answered in [\d,]+ ms"))

    actions = row.get_by_role("button", name=re.compile("Actions for"))
    await actions.click()
    await page.get_by_role("menuitem", name="Replace the key").click()
    await page.get_by_label("New key").fill("another-wrong-key")
    await page.get_by_role("button", name="Replace and test").click()
    await page.get_by_text("The new key is stored, but it does not work.").wait_for()
    await page.keyboard.press("Escape")
    await expect(row).to_contain_text("Refused")

    await actions.click()
    await page.get_by_role("menuitem", name="Turn off").click()
    # Agents may stop answering: it says so and asks.
    asked = page.get_by_role("dialog", name=re.compile("^Turn off"))
    await asked.get_by_text("stop answering until it is turned on again").wait_for()
    await asked.get_by_role("button", name="Turn off").click()
    await expect(row).to_contain_text("Off")
    await actions.click()
    await page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog")
    assert await dialog.get_by_role("button", name="Delete").is_disabled()
    await dialog.get_by_label("Name of the key").fill("OpenAI-compatible server")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(row).to_have_count(0)


async def test_models_are_found_with_their_price_and_the_reason_why_not(site, page):
    await open_page(site, page, "/settings/models")
    await page.get_by_text("All", exact=True).click()
    await page.get_by_label("Find a model").fill("anthropic/")
    row = page.get_by_role("row").filter(has_text="anthropic/claude").first
    await expect(row).to_contain_text("No key for Anthropic")
    await expect(row).to_contain_text("$")
    await page.get_by_label("Find a model").fill("nothing-has-this-name")
    await page.get_by_role("heading", name="Nothing found").wait_for()
    assert "search=nothing-has-this-name" in page.url


async def test_a_price_is_entered_where_a_key_is_added_and_in_the_list(site, page, provider):
    await page.set_viewport_size({"width": 1440, "height": 900})
    await open_page(site, page, "/settings/models?add=true")
    await add_key(page, provider, KEY)
    dialog = page.get_by_role("dialog")
    priced = dialog.get_by_role("region", name=re.compile("no known price"))
    model = await priced.get_by_role("combobox", name="Model").input_value()
    await priced.get_by_label("Input price").fill("0.5")
    await priced.get_by_label("Output price").fill("1.25")
    assert await axe(page) == []
    await priced.get_by_role("button", name="Save price").click()
    await expect(priced.get_by_role("combobox", name="Model")).not_to_have_value(model)
    await page.get_by_role("button", name="Done").click()
    await page.get_by_label("Find a model").fill(model)
    cell = page.get_by_role("button", name=f"Price of {model}: $0.50 / $1.25. Change")
    await cell.click()
    await page.get_by_label("Output price").fill("2")
    assert await axe(page) == []
    await page.get_by_role("button", name="Save price").click()
    changed = page.get_by_role("button", name=f"Price of {model}: $0.50 / $2.00. Change")
    await changed.click()
    await page.get_by_role("button", name="Remove own price").click()
    await page.get_by_role("button", name=f"Price of {model}: unknown. Change").wait_for()
    (key,) = [
        one["id"]
        for one in (await site.call("GET", "/api/v1/api-keys?per_page=100"))["data"]
        if one["base_url"] == f"{provider.url}/v1"
    ]
    await site.call("DELETE", f"/api/v1/api-keys/{key}?force=true")


async def test_a_found_server_is_connected_with_one_press(site, page):
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", OLLAMA_PORT)) == 0:
            pytest.skip("another program uses Ollama's port on this machine")
    async with provider_server(KeylessServer(TAGS), port=OLLAMA_PORT):
        await open_page(site, page, "/settings/models")
        again = page.get_by_role("button", name="Look again")
        connect = page.get_by_role("button", name="Connect localhost:11434")
        await again.click(delay=10)
        await page.wait_for_timeout(2_100)  # the server looks at most every two seconds
        await again.click()
        await connect.click()
        await page.get_by_role("listitem").filter(has_text="llama3.2").get_by_text("Connected").wait_for()
        await page.get_by_role("cell", name="ollama/llama3.2:latest", exact=True).wait_for()
        for key in (await site.call("GET", "/api/v1/api-keys?provider=ollama"))["data"]:
            await site.call("PUT", f"/api/v1/api-keys/{key['id']}", {"is_active": False})


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_screen_is_accessible(site, page, scheme):
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/settings/models")
    await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    await page.get_by_text("Embedded in this server").wait_for()
    for width, height in ((1440, 900), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        assert await axe(page) == [], width
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.goto(f"{site.url}/console/settings/models?add=true")
    await page.get_by_role("dialog").wait_for()
    assert await axe(page) == []
