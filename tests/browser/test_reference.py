"""The reference page shows what the free-form objects of a body hold, for each of their kinds."""

import json
from typing import Any

import pytest
from playwright.async_api import expect


async def open_kind(page: Any, kind: str) -> Any:
    """Open this kind of the last list of kinds in the body; return its part of the page."""
    name = page.locator(f'code.name:text-is("{kind}")')
    folded = page.locator(".kinds").last.locator("details", has=page.locator("summary", has=name)).first
    await folded.locator("summary").first.click()
    return folded


@pytest.mark.parametrize(
    ("operation", "kind", "keys"),
    [
        ("create_tool", "rest_api", {"base_url", "endpoints"}),
        ("create_tool", "custom/data_table", {"kind", "table_id"}),
        ("create_workflow", "http", {"url"}),
        ("create_notification_channel", "twilio", {"account_sid", "auth_token", "from_number"}),
    ],
)
async def test_a_kind_unfolds_with_its_keys_and_an_example(site, page, operation, kind, keys):
    await page.goto(f"{site.url}/docs#{operation}")
    shown = await open_kind(page, kind)
    needed = shown.locator(".tree > li > .line, .tree > li > details > .line", has_text="required")
    await expect(needed).to_have_count(len(keys))
    assert set(await needed.locator("code.name").all_inner_texts()) == keys
    assert json.loads(await shown.locator("pre.json").inner_text()).keys() >= keys


async def test_the_body_to_try_is_the_example_of_the_operation(site, page):
    await page.goto(f"{site.url}/docs#create_tool")
    body = json.loads(await page.locator("#body").input_value())
    assert body["config"]["base_url"] == "https://api.example.com/v1"
