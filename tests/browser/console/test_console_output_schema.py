"""The schema of an agent's replies on the Build page."""

import json
import secrets

from playwright.async_api import expect

from tests.browser.console.steps import AGENTS, axe, open_page

SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}}'


async def test_a_schema_is_saved_once_it_is_one(site, page):
    agent = {"name": f"Clerk {secrets.token_hex(4)}", "primary_model": "local/x", "system_prompt": "x"}
    agent_id = (await site.call("POST", AGENTS, agent))["id"]
    await open_page(site, page, f"/agents/{agent_id}")
    await page.get_by_role("heading", name="Output schema").click()
    field = page.get_by_role("textbox", name="Output schema")
    await field.fill('{"type": ')
    await page.get_by_text("This is not valid JSON yet").wait_for()
    await expect(page.get_by_role("status").get_by_text("Schema not saved: not valid yet")).to_be_visible()
    await expect(page.get_by_text("Saved", exact=True)).to_have_count(0)
    await expect(page.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")
    await field.fill('{"type": "array"}')
    await page.get_by_text('needs "type": "object"').wait_for()
    assert await axe(page) == []
    await field.fill(SCHEMA)
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved", exact=True).wait_for()
    await expect(page.get_by_text("Schema not saved")).to_have_count(0)
    await expect(page.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "false")
    draft = await site.call("GET", f"{AGENTS}/{agent_id}/draft")
    assert draft["snapshot"]["output_schema"]["properties"] == {"city": {"type": "string"}}
    await page.reload()
    assert json.loads(await field.input_value()) == json.loads(SCHEMA)


async def test_a_narrow_screen_says_in_the_header_that_something_is_not_saved(site, page):
    agent = {"name": f"Clerk {secrets.token_hex(4)}", "primary_model": "local/x", "system_prompt": "x"}
    agent_id = (await site.call("POST", AGENTS, agent))["id"]
    await page.set_viewport_size({"width": 390, "height": 844})
    await open_page(site, page, f"/agents/{agent_id}")
    await page.get_by_role("heading", name="Output schema").click()
    await page.get_by_role("textbox", name="Output schema").fill('{"type": ')
    short = page.get_by_role("status").get_by_text("Not saved", exact=True)
    await expect(short).to_be_visible()
    is_whole = "node => node.parentElement.scrollWidth <= node.parentElement.clientWidth"
    assert await short.evaluate(is_whole)
