"""The API reference in the console: found, read, tried as the signed-in person and copied as a program."""

import json
import re

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import AGENTS, LOOKS, axe, new_person, open_page, sign_in_as


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_an_operation_is_found_read_and_tried(site, page, scheme, width):
    agent = await site.call(
        "POST", AGENTS, {"name": "Tried", "primary_model": "local/smollm2-135m", "system_prompt": "You help."}
    )
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/reference")
    await page.get_by_label("Find an operation").fill("get agent {agent_id}")
    await page.get_by_role("link", name="Get agent", exact=False).first.wait_for()
    assert await axe(page) == []
    await page.get_by_role("link", name=re.compile(r"Get agent$")).click()
    await page.get_by_role("heading", name="Get agent", exact=True).wait_for()
    send = page.get_by_role("button", name="Send GET")
    await expect(send).to_be_disabled()
    await page.get_by_label("agent_id").fill(agent["id"])
    await send.click()
    answer = page.get_by_role("region", name="Answer of the server")
    await expect(answer).to_contain_text("200")
    await expect(answer).to_contain_text("Tried")
    await answer.get_by_role("button", name=re.compile("headers")).click()
    await expect(answer).to_contain_text("x-correlation-id")
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


async def test_a_change_says_that_it_acts_for_real_and_a_refusal_is_shown_as_it_came(site, page):
    await open_page(site, page, "/reference/create_agent")
    await page.get_by_text("This acts for real: it changes what the organization").wait_for()
    body = page.get_by_role("textbox", name="Body")
    assert json.loads(await body.input_value())["name"]
    await body.fill('{"name": ')
    await page.get_by_text("This is not JSON yet").wait_for()
    await expect(page.get_by_role("button", name="Send POST")).to_be_disabled()
    await body.fill('{"name": ""}')
    await page.get_by_role("button", name="Send POST").click()
    answer = page.get_by_role("region", name="Answer of the server")
    await expect(answer).to_contain_text("422")
    await expect(answer).to_contain_text("validation_error")


async def test_who_lacks_the_permission_is_told_before_the_server_refuses(site, page):
    person = await new_person(site)
    users = await site.call("GET", f"/users?search={person.email}")
    await site.call("PUT", f"/users/{users['users'][0]['id']}/role", {"role": "viewer"})
    await sign_in_as(site, page, person, "/reference/list_credentials")
    await page.get_by_text("The server will refuse this with 403.").wait_for()
    await expect(page.get_by_role("link", name="Get a token for a program")).to_have_count(0)
    await page.get_by_role("button", name="Send GET").click()
    await expect(page.get_by_role("region", name="Answer of the server")).to_contain_text("403")


async def test_the_request_is_a_program_without_a_secret(site, page):
    await open_page(site, page, "/reference/list_agents")
    await page.get_by_label("search", exact=True).fill("it's mine")
    kinds = page.get_by_role("radiogroup", name="Call it")
    for kind, part in (
        ("curl", "search=it%27s+mine"),
        ("Python", "httpx.request("),
        ("JavaScript", "await fetch("),
    ):
        await kinds.get_by_text(kind, exact=True).click()
        code = page.get_by_role("group", name=kind)
        await expect(code).to_contain_text(part)
        await expect(code).to_contain_text("API_TOKEN")
        assert "eyJ" not in str(await code.text_content())


async def test_an_unknown_operation_and_a_search_without_result_have_a_way_on(site, page):
    await open_page(site, page, "/reference/no_such_operation")
    await page.get_by_role("heading", name="There is nothing here").wait_for()
    await page.get_by_label("Find an operation").fill("qqqq")
    await page.get_by_role("button", name="Show all operations").click()
    await page.get_by_role("button", name=re.compile("Agents")).first.wait_for()


async def test_the_overview_leads_to_the_guides_and_to_access_for_a_program(site, page):
    await open_page(site, page, "/reference")
    guide = page.get_by_role("link", name="Service accounts", exact=True)
    address = await guide.get_attribute("href")
    assert (await page.request.get(f"{site.url}{address}")).status == 200
    await page.get_by_role("link", name="Get a token for a program").first.click()
    await page.get_by_role("dialog", name="New service account").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("heading", name="Settings").wait_for()
