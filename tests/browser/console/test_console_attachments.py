"""Files in the console: sent in the playground, shown there and in the transcript."""

import secrets

from playwright.async_api import expect

from tests.adapters.llm_server import KEY, provider_server
from tests.browser.console.steps import AGENTS, axe, open_page
from tests.chat.attaching import chats_of, images_in, photo


async def looker(site, provider):
    """Return the id of an agent whose model can look at pictures."""
    name = f"m-{secrets.token_hex(4)}"
    key = {"provider": "openai_compatible", "name": name, "api_key": KEY, "base_url": f"{provider.url}/v1"}
    await site.call("POST", "/api/v1/api-keys", {**key, "models": [name]})
    body = {"name": f"Looker {name}", "primary_model": f"openai_compatible/{name}", "system_prompt": "x"}
    return (await site.call("POST", AGENTS, body))["id"]


async def test_a_refused_message_goes_back_with_its_files_and_the_bad_one_is_named(site, page):
    async with provider_server() as provider:
        agent = await looker(site, provider)
        await open_page(site, page, f"/agents/{agent}")
        whole = photo(format="PNG")
        await page.locator("input[type=file]").set_input_files(
            [
                {"name": "red.png", "mimeType": "image/png", "buffer": whole},
                {"name": "broken.png", "mimeType": "image/png", "buffer": whole[:40]},
            ]
        )
        files = page.locator("ul[aria-label='Attached files']").last
        await expect(files.get_by_role("listitem")).to_have_count(2)
        await expect(files.get_by_role("progressbar")).to_have_count(0)
        field = page.get_by_role("textbox", name="Say something")
        await field.fill("What is on them?")
        await field.press("Enter")
        log = page.get_by_role("log")
        await log.get_by_role("alert").get_by_text("broken.png").wait_for()
        await expect(field).to_have_value("What is on them?")
        await expect(files.get_by_role("listitem").filter(has=page.get_by_role("alert"))).to_contain_text(
            "broken.png"
        )
        assert await axe(page) == []
        provider.says("A red picture.")
        await page.get_by_role("button", name="Send", exact=True).click()
        await log.get_by_text("A red picture.").wait_for()
        assert len(images_in(chats_of(provider)[-1])) == 1
        await expect(log.get_by_text("What is on them?")).to_have_count(1)
        await expect(field).to_have_value("")


async def test_files_are_sent_in_the_playground_and_shown_in_the_transcript(site, page):
    async with provider_server() as provider:
        agent = await looker(site, provider)
        await open_page(site, page, f"/agents/{agent}")
        picker = page.locator("input[type=file]")
        await picker.set_input_files(
            [
                {"name": "red.png", "mimeType": "image/png", "buffer": photo(format="PNG")},
                {"name": "a.svg", "mimeType": "image/svg+xml", "buffer": b"<svg/>"},
            ]
        )
        files = page.get_by_role("list", name="Attached files")
        await expect(files.get_by_text("cannot be sent")).to_be_visible()
        await page.get_by_role("button", name="Remove a.svg").click()
        await expect(files.get_by_role("progressbar")).to_have_count(0)
        assert await axe(page) == []
        provider.says("A red picture.")
        await page.get_by_role("button", name="Send", exact=True).click()
        await page.get_by_text("A red picture.").wait_for()
        assert len(images_in(chats_of(provider)[-1])) == 1
        await expect(page.get_by_role("log").get_by_role("img", name="red.png")).to_be_visible()
        (talk,) = (await site.call("GET", f"/api/v1/conversations?agent_id={agent}"))["data"]
        await page.goto(f"{site.url}/console/conversations/{talk['id']}")
        await expect(page.get_by_role("img", name="red.png")).to_be_visible()
        assert await axe(page) == []
