"""Tools in the console: the registry, a tool with its runs, new ones from an example, curl and OpenAPI."""

import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import LOOKS, agent_with_tool, axe, open_page
from tests.tools.servers.rest_api import rest_api

CODE = 'def main(input):\n    print("gross of", input["net"])\n    return {"gross": input["net"] * 2}\n'
OPENAPI = """
openapi: 3.0.0
info: {title: Parcels, version: "2.4"}
servers: [{url: "https://parcels.example"}]
paths:
  /parcels:
    get: {operationId: list_parcels, summary: Parcels of an order, responses: {}}
    post: {operationId: book_parcel, summary: Books a parcel, responses: {}}
"""


@pytest.fixture
async def orders(site):
    """A tool of a REST API that ran once and failed once."""
    async with rest_api() as remote:
        endpoints = {
            "refund": {"method": "POST", "path": "/refunds", "description": "Pays back"},
            "broken": {"method": "GET", "path": "/scripted/{order}"},
        }
        body = {
            "name": "Orders",
            "description": "Orders of the shop",
            "category": "crm",
            "tool_type": "rest_api",
            "auth_type": "none",
            "requires_approval": True,
            "config": {"base_url": remote.url, "endpoints": endpoints},
        }
        tool = (await site.call("POST", "/v1/tools", body))["data"]
        path = f"/v1/tools/{tool['id']}"
        await site.call("POST", f"{path}/execute", {"input": {"endpoint": "refund", "order": "10482"}})
        remote.answers.append((500, {}, b"out of order"))
        await site.call("POST", f"{path}/execute", {"input": {"endpoint": "broken", "order": "10483"}})
        yield tool
        await site.call("DELETE", path)


async def _fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_registry_finds_filters_and_switches_tools(site, page, orders, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/tools")
    row = page.get_by_role("row").filter(has_text="Orders of the shop")
    await expect(row).to_contain_text("Asks first")
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_text("Off", exact=True).click()
    await expect(page).to_have_url(re.compile("show=off"))
    await page.get_by_role("heading", name="Nothing found").wait_for()
    await page.get_by_role("button", name="Clear filters").last.click()
    await row.wait_for()
    if width > 700:
        await row.get_by_role("switch").uncheck(force=True)
        await expect(row).to_contain_text("Switched off")
        read = (await site.call("GET", f"/v1/tools/{orders['id']}"))["data"]
        assert read["is_enabled"] is False


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_run_that_failed_is_looked_at_and_run_again(site, page, orders, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/tools/{orders['id']}/executions")
    await (
        page.get_by_role("row")
        .filter(has_text="The destination answered with an error.")
        .get_by_role("button")
        .click()
    )
    panel = page.get_by_role("complementary", name=re.compile("^Run of"))
    await panel.get_by_role("alert").wait_for()
    await expect(panel.get_by_role("group", name="JSON")).to_contain_text('"order": "10483"')
    assert await axe(page) == []
    assert await _fits(page)
    await panel.get_by_role("button", name="Close").click()
    await expect(panel).to_have_count(0)
    await page.goto(f"{site.url}/console/tools/{orders['id']}/executions?status=failed")
    await page.get_by_role("row").nth(1).get_by_role("button").click()
    await panel.get_by_role("link", name="Run with this input").click()
    run = page.get_by_role("region", name="Try it")
    await expect(run.get_by_label("order")).to_have_value("10483")
    await run.get_by_label("order").fill("10484")
    await run.get_by_role("button", name="Run").click()
    await run.get_by_role("link", name="Completed").wait_for()
    assert await axe(page) == []
    assert await _fits(page)
    await page.goto(f"{site.url}/console/tools/{orders['id']}/statistics")
    await page.get_by_text("1 failed").wait_for()
    assert await axe(page) == []
    await page.get_by_role("link", name="Used by").click()
    await page.get_by_text("No agent called it.").wait_for()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_function_is_made_from_its_example_changed_and_saved(site, page, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/tools/new")
    await page.get_by_role("button", name=re.compile(r"^Function\b")).click()
    await expect(page.get_by_role("textbox", name="Code")).to_contain_text("def main(input)")
    await page.get_by_role("textbox", name="Name", exact=True).fill(f"Gross {scheme} {width}")
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_role("button", name="Create tool").click()
    await page.get_by_role("heading", name=f"Gross {scheme} {width}").wait_for()
    tool_id = page.url.rpartition("/")[2]
    code = page.get_by_role("textbox", name="Code")
    await code.fill(CODE)
    await page.get_by_label("Input schema").fill('{"type": "object", "properties": {"net": {')
    await page.get_by_text("This is not JSON yet.").wait_for()
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    await page.get_by_label("Input schema").fill(
        '{"type": "object", "properties": {"net": {"type": "number"}}}'
    )
    await page.get_by_role("checkbox", name="Asks first").check()
    await page.get_by_role("link", name="Executions", exact=True).click()
    question = page.get_by_role("dialog", name="Leave without saving?")
    assert await axe(page) == []
    await question.get_by_role("button", name="Cancel").click()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("region", name="Unsaved changes")).to_have_count(0)
    read = (await site.call("GET", f"/v1/tools/{tool_id}"))["data"]
    assert read["config"]["code"] == CODE
    assert read["input_schema"] == {"type": "object", "properties": {"net": {"type": "number"}}}
    assert read["requires_approval"] is True
    await expect(page.get_by_role("region", name="Try it").get_by_label("net")).to_be_visible()
    assert await axe(page) == []
    assert await _fits(page)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_one_request_asks_first_and_named_people_decide(site, page, scheme, width):
    endpoints = {
        "look_up": {"method": "GET", "path": "/orders/{order}"},
        "refund": {"method": "POST", "path": "/refunds", "default_params": {"currency": "EUR"}},
    }
    config = {"base_url": "https://shop.example", "endpoints": endpoints}
    body = {"name": "Shop", "category": "crm", "tool_type": "rest_api", "auth_type": "none", "config": config}
    tool = f"/v1/tools/{(await site.call('POST', '/v1/tools', body))['data']['id']}"
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, tool.removeprefix("/v1"))
    await expect(page.get_by_label("Roles that decide")).to_have_count(0)
    await page.get_by_label("refund asks first").check()
    await page.get_by_label("What refund does").fill("Pays back")
    await page.get_by_role("button", name="Input of refund").click()
    await page.get_by_label("Input schema of refund").fill('{"type": "object", "properties": {"amount": ')
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    await page.get_by_label("Input schema of refund").fill('{"type": "object", "properties": {"amount": {}}}')
    await page.get_by_role("combobox", name="Roles that decide").click()
    await page.get_by_role("option", name="User", exact=True).click()
    await page.keyboard.press("Escape")
    await page.get_by_role("combobox", name="People who decide").fill("Super")
    await page.get_by_role("option").first.click()
    await page.keyboard.press("Escape")
    await page.get_by_role("combobox", name="What they may change").click()
    await page.get_by_role("option", name="amount").click()
    await page.keyboard.press("Escape")
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("region", name="Unsaved changes")).to_have_count(0)
    saved = (await site.call("GET", tool))["data"]
    assert saved["config"]["endpoints"]["refund"] == {
        **endpoints["refund"],
        "description": "Pays back",
        "input_schema": {"type": "object", "properties": {"amount": {}}},
        "requires_approval": True,
    }
    assert (saved["requires_approval"], saved["config"]["endpoints"]["look_up"]) == (
        False,
        endpoints["look_up"],
    )
    rule = saved["approval"]
    assert (rule["approvers"]["roles"], rule["editable_fields"]) == (["agent_user"], ["amount"])
    assert len(rule["approvers"]["user_ids"]) == 1
    await page.get_by_label("refund asks first").uncheck()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("region", name="Unsaved changes")).to_have_count(0)
    saved = (await site.call("GET", tool))["data"]
    assert "requires_approval" not in saved["config"]["endpoints"]["refund"]
    await site.call("DELETE", tool)


@pytest.mark.journey
async def test_the_secret_of_a_curl_command_becomes_a_credential(site, page):
    await open_page(site, page, "/tools/new")
    await page.get_by_role("button", name="curl").click()
    command = (
        "curl -X POST https://shop.example/v1/orders "
        "-H 'Authorization: Bearer s3cret-key' --json '{\"sku\": \"lamp\"}'"
    )
    await page.get_by_label("curl command").fill(command)
    await page.get_by_role("button", name="Store as a credential").click()
    await page.get_by_role("textbox", name="Name", exact=True).fill("Shop orders")
    assert await axe(page) == []
    await page.get_by_role("button", name="Create tool").click()
    await page.get_by_role("heading", name="Shop orders").wait_for()
    tool = (await site.call("GET", f"/v1/tools/{page.url.rpartition('/')[2]}"))["data"]
    assert (tool["auth_type"], tool["requires_approval"]) == ("bearer", True)
    assert tool["credential_id"]
    assert tool["config"]["endpoints"]["post_v1_orders"]["method"] == "POST"
    assert "s3cret" not in str(tool)


async def test_chosen_operations_of_a_document_become_a_tool_of_an_agent(site, page):
    async with provider_server() as provider, rest_api() as remote:
        agent_id, _ = await agent_with_tool(site, provider, f"{remote.url}/refunds")
        await open_page(site, page, f"/agents/{agent_id}")
        await page.get_by_role("button", name="Tool", exact=True).click()
        await page.get_by_role("option", name="New tool").click()
        dialog = page.get_by_role("dialog", name="New tool")
        await dialog.get_by_label("OpenAPI 3 or Swagger 2").fill(OPENAPI)
        await dialog.get_by_role("button", name="Read").click()
        await dialog.get_by_text("2 of 2 chosen").wait_for()
        assert await axe(page) == []
        await dialog.get_by_role("button", name="All that read").click()
        await dialog.get_by_label("Choose book_parcel").check()
        before = (await site.call("GET", "/v1/tools?search=Parcels"))["data"]
        assert before == []
        await dialog.get_by_role("button", name="Create tool").click()
        await expect(dialog).to_have_count(0)
        (listed,) = (await site.call("GET", "/v1/tools?search=Parcels"))["data"]
        made = (await site.call("GET", f"/v1/tools/{listed['id']}"))["data"]
        asking = {
            name: endpoint.get("requires_approval", False)
            for name, endpoint in made["config"]["endpoints"].items()
        }
        assert (made["requires_approval"], asking) == (False, {"list_parcels": False, "book_parcel": True})
        await page.get_by_role("list", name="Can do").get_by_role("link", name="Parcels").click()
        await page.get_by_label("Path of book_parcel").wait_for()
