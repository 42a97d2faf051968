"""Versions of an agent in the console: what changed, a draft that is reviewed and published, and columns."""

import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import AGENTS, LOOKS, agent_with_tool, axe, new_person, open_page
from tests.e2e.load import call
from tests.tools.servers.rest_api import rest_api

PROMPT = (
    "You help.\nBegin with the answer.\nSay where the parcel is.\nAsk the customer to wait.\nStay polite."
)


@pytest.fixture
async def agent(site):
    """An agent with three versions and a draft: its id and the provider of its model."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, _ = await agent_with_tool(site, provider, f"{remote.url}/refunds")
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"system_prompt": PROMPT})
        (attached,) = (await site.call("GET", f"/v1/agents/{agent_id}/tools"))["data"]
        tool = {"tool_id": attached["tool_id"], "requires_approval": True}
        changed = PROMPT.replace("Ask the customer to wait.", "Offer a new parcel.\nName the day.")
        snapshot = {"system_prompt": changed, "temperature": 0.2, "tools": [tool]}
        await site.call("PUT", f"{AGENTS}/{agent_id}/draft", {"snapshot": snapshot})
        yield agent_id, provider


async def test_a_draft_is_reviewed_and_published_with_a_note(site, page, agent):
    agent_id, _ = agent
    await open_page(site, page, f"/agents/{agent_id}/versions?version=draft")
    changes = page.get_by_role("region", name="What changed")
    await changes.get_by_text("Offer a new parcel.").wait_for()
    await changes.get_by_text("Ask the customer to wait.").wait_for()
    await changes.get_by_text("2 lines more, 1 less").wait_for()
    await page.get_by_role("button", name="Review and publish").click()
    review = page.get_by_role("dialog", name="Publish Talker v4")
    await review.get_by_text("Offer a new parcel.").wait_for()
    await review.get_by_text("Requires approval").wait_for()
    await review.get_by_label("What changed, for the others").fill("Offers a new parcel")
    await review.get_by_role("button", name="Publish v4").click()
    await expect(review).to_have_count(0)
    newest = page.get_by_role("link", name=re.compile("v4"))
    await expect(newest).to_contain_text("Offers a new parcel")
    await expect(newest).to_contain_text("In use")
    stored = await site.call("GET", f"{AGENTS}/{agent_id}")
    assert (stored["status"], stored["version"], stored["temperature"]) == ("published", 4, 0.2)


@pytest.mark.slow
async def test_a_change_by_somebody_else_is_told_before_it_is_replaced(site, page, agent):
    agent_id, _ = agent
    colleague, port = await new_person(site), site.server.port
    login = {"email": colleague.email, "password": colleague.password}
    _, before = await call(port, "POST", "/auth/login", body=login)
    user_id = (await call(port, "GET", "/auth/me", token=before["access_token"]))[1]["id"]
    await site.call("PUT", f"/users/{user_id}/role", {"role": "agent_developer"})
    _, tokens = await call(port, "POST", "/auth/login", body=login)
    change = {"system_prompt": "Theirs."}
    path = f"{AGENTS}/{agent_id}"
    status, answer = await call(port, "PUT", path, body=change, token=tokens["access_token"])
    assert status == 200, answer
    await open_page(site, page, f"/agents/{agent_id}/versions?version=draft")
    await page.get_by_role("button", name="Review and publish").click()
    review = page.get_by_role("dialog")
    await review.get_by_role("button", name="Publish v5").dblclick()
    await review.get_by_role("alert").get_by_text("Ada Sample changed this agent").wait_for()
    await page.wait_for_timeout(600)  # What is clicked sooner belongs to the click before it.
    assert (await site.call("GET", path))["system_prompt"] == "Theirs."
    await review.get_by_role("button", name="Publish anyway").click()
    await expect(review).to_have_count(0)
    assert "Offer a new parcel." in (await site.call("GET", path))["system_prompt"]


async def test_an_old_version_is_compared_and_restored(site, page, agent):
    agent_id, _ = agent
    await open_page(site, page, f"/agents/{agent_id}/versions")
    await page.get_by_role("link", name=re.compile("^v1")).click()
    await page.get_by_text("This is the first version").wait_for()
    await page.get_by_label("Compare with").first.click()
    await page.get_by_role("option", name="compared with v3").click()
    changes = page.get_by_role("region", name="What changed")
    await changes.get_by_text("Removed").wait_for()
    await page.get_by_role("button", name="Restore v1").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore v1").click()
    await expect(page.get_by_role("link", name=re.compile("^v4"))).to_contain_text("Restored version 1.")
    assert (await site.call("GET", f"{AGENTS}/{agent_id}"))["system_prompt"] == "You help."


async def test_two_columns_answer_the_same_question(site, page, agent):
    agent_id, provider = agent
    await open_page(site, page, f"/agents/{agent_id}/compare")
    first, second = (
        page.get_by_role("log", name="Replies in column 1"),
        page.get_by_role("log", name="Replies in column 2"),
    )
    await page.get_by_label("Ask all columns").fill("Where is it?")
    await page.keyboard.press("Enter")
    for log in (first, second):
        await log.get_by_text("You said: Where is it?").wait_for()
    prompts = [one.json["messages"][0]["content"] for one in provider.requests]
    assert sorted("Offer a new parcel." in prompt for prompt in prompts) == [False, True]
    column = page.get_by_role("region", name="Column 2")
    await expect(column.locator("dd").first).to_have_text(re.compile("ms|s$"))
    await page.get_by_role("group", name="Which is better?").get_by_role("button", name="Right").click()
    await expect(page.get_by_role("button", name="Right", exact=False)).to_have_attribute(
        "aria-pressed", "true"
    )
    found = (await site.call("GET", f"/api/v1/conversations?agent_id={agent_id}"))["data"]
    said = [await site.call("GET", f"/api/v1/conversations/{one['id']}/messages") for one in found]
    assert sorted(one["data"][-1]["feedback"]["rating"] for one in said) == ["negative", "positive"]
    await page.get_by_role("button", name="Column", exact=True).click()
    await expect(page.get_by_role("region", name="Column 3")).to_be_visible()
    await page.get_by_role("button", name="Remove column 3").click()
    await page.get_by_label("Ask all columns").fill("And now?")
    await page.keyboard.press("Enter")
    await second.get_by_text("You said: And now?").wait_for()
    assert [len(one.json["messages"]) for one in provider.requests[-2:]] == [4, 4]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_screens_are_accessible(site, page, agent, scheme, width):
    agent_id, _ = agent
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/agents/{agent_id}/versions?version=draft")
    await page.get_by_text("Offer a new parcel.").wait_for()
    assert await axe(page) == []
    await page.get_by_role("button", name="Review and publish").click()
    await page.get_by_role("dialog").get_by_text("Offer a new parcel.").wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="Compare").click()
    await page.get_by_label("Ask all columns").fill("Where is it?")
    await page.keyboard.press("Enter")
    log = page.get_by_role("log", name="Replies in column 2")
    await log.get_by_text("You said: Where is it?").wait_for()
    assert await axe(page) == []
    is_wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not await page.evaluate(is_wider)
