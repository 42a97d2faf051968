"""Home in the console: what needs somebody, the day's figures, where one was, and the first steps."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.build_page import talker
from tests.browser.console.steps import AGENTS, axe, open_page
from tests.browser.site import Site

HOME = "/api/v1/home"


async def wait_for_need(site: Site, title_code: str) -> None:
    """Wait until home has such a need: what it shows may be some seconds old."""
    async with asyncio.timeout(20):
        while title_code not in {need["title_code"] for need in (await site.call("GET", HOME))["needs"]}:
            await asyncio.sleep(0.5)


async def test_what_needs_somebody_leads_to_its_place_or_says_more_where_it_stands(site, page):
    soon = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    secret = {"type": "api_key", "secrets": {"api_key": "x"}, "expires_at": soon}
    credential = (await site.call("POST", "/v1/credentials", {"name": "Carrier", **secret}))["data"]
    async with provider_server() as provider:
        body = {"provider": "openai_compatible", "name": "Old key", "base_url": f"{provider.url}/v1"}
        key = await site.call("POST", "/api/v1/api-keys", {**body, "api_key": "wrong-key"})
        tested = await site.call("POST", f"/api/v1/api-keys/{key['id']}/test")
        assert not tested["success"]
    await open_page(site, page, "/")
    expiring = page.get_by_role("listitem").filter(has_text="Carrier expires soon")
    await expiring.get_by_role("button", name=re.compile("Inspect")).click()
    await expect(expiring.get_by_text("Used by")).to_be_visible()
    await expect(expiring.get_by_text("nothing", exact=True)).to_be_visible()
    assert await axe(page) == []
    await site.call("PUT", f"/v1/credentials/{credential['id']}", {"expires_at": None})
    need = page.get_by_role("listitem").filter(has_text="The key Old key was refused")
    await expect(need).to_be_visible(timeout=20_000)
    await need.get_by_role("link", name=re.compile("Replace")).click()
    await page.get_by_role("heading", name="Settings", level=1).wait_for()
    await site.call("PUT", f"/api/v1/api-keys/{key['id']}", {"is_active": False})


async def test_home_greets_shows_the_day_and_remembers_where_one_was(site, page):
    await open_page(site, page, "/")
    await page.get_by_role(
        "heading", name=re.compile("(Good (morning|afternoon|evening)|Hello), Super")
    ).wait_for()
    for label in ("Chats", "Tokens", "Cost", "Time to the first word"):
        await page.get_by_text(label, exact=True).first.wait_for()
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.get_by_role("heading", name="Inbox").wait_for()
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    recent = page.get_by_role("region", name="Recently visited")
    await recent.get_by_role("link", name=re.compile("Inbox")).click()
    await page.get_by_role("heading", name="Inbox").wait_for()


@pytest.mark.slow
async def test_the_first_steps_can_be_put_away(site, page):
    await open_page(site, page, "/")
    steps = page.get_by_role("region", name="Getting started")
    await steps.get_by_role("button", name="Dismiss").click()
    await expect(steps).to_have_count(0)
    await page.reload()
    await page.get_by_role("region", name="Recently visited").wait_for()
    await expect(steps).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_home_is_accessible_on_a_desk_and_on_a_phone(site, page, scheme):
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/")
    await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    await page.get_by_role("region", name="Today").wait_for()
    for width, height in ((1440, 900), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        assert await axe(page) == [], width
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_home_says_whom_a_spent_budget_silences_and_leads_to_it(site, page):
    async with talker(site) as (agent_id, _, provider):
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"name": "Support desk", "status": "published"})
        provider.says("One.")
        await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "First"})
        scope = {"type": "agent", "id": agent_id}
        spent = {"scope": scope, "period": "month", "limit_tokens": 1, "action": "block"}
        # It is over as soon as it is set: nobody has to run into it first.
        made = await site.call("POST", "/api/v1/budgets", spent)
        await wait_for_need(site, "budget_blocks")
        await open_page(site, page, "/")
        need = page.get_by_role("listitem").filter(
            has_text="Support desk answers nobody: its budget is used up"
        )
        await need.wait_for()
        await page.get_by_text(re.compile(r"\d+ budgets? of (an agent|agents)")).wait_for()
        assert await axe(page) == []
        await need.get_by_role("link", name=re.compile("Raise")).click()
        await page.get_by_role("heading", name="Support desk").wait_for()
        await page.get_by_role("link", name="Answers nobody").wait_for()
        await page.get_by_text("Over the limit").wait_for()
        assert await axe(page) == []
        assert page.url.endswith(f"/agents/{agent_id}/statistics")
        await site.call("DELETE", f"/api/v1/budgets/{made['id']}")


async def test_the_palette_invites_a_colleague_as_often_as_one_likes(site, page):
    await open_page(site, page, "/")
    email = page.get_by_label("Email")
    for _ in range(2):
        await page.keyboard.press("Control+k")
        palette = page.get_by_role("dialog").filter(has=page.get_by_placeholder("Search or run a command"))
        await palette.get_by_placeholder("Search or run a command").fill("invite")
        await palette.get_by_role("button", name="Invite a colleague").click()
        await email.wait_for()
        await page.keyboard.press("Escape")
        await expect(email).to_have_count(0)
        assert "#" not in page.url


MAX_FIRST_LOAD_BYTES = 250_000
MAX_FIRST_LOAD_REQUESTS = 20


@pytest.mark.journey
async def test_home_with_something_to_show_loads_in_few_requests(site, page):
    """Everything counts: the page, its files and fonts, and what it asks the server before it stands."""
    soon = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    secret = {"type": "api_key", "secrets": {"api_key": "x"}, "expires_at": soon}
    credential = (await site.call("POST", "/v1/credentials", {"name": "Courier", **secret}))["data"]
    async with talker(site) as (agent_id, _, provider):
        provider.says("Hello.")
        await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "Hello"})
    await open_page(site, page, "/")
    browser = await page.context.new_cdp_session(page)
    await browser.send("Network.setCacheDisabled", {"cacheDisabled": True})
    # What the page before asked last is not counted.
    await page.goto("about:blank")
    answers = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108  playwright marks what it calls
    await page.goto(f"{site.url}/console/")
    await page.get_by_role("listitem").filter(has_text="Courier expires soon").wait_for()
    await page.get_by_text("Time to the first word", exact=True).first.wait_for()
    await page.wait_for_timeout(1000)
    sizes = [(answer.url, int(answer.headers.get("content-length", 0))) for answer in answers]
    assert len(sizes) <= MAX_FIRST_LOAD_REQUESTS, sizes
    assert sum(size for _, size in sizes) <= MAX_FIRST_LOAD_BYTES, sizes
    await site.call("PUT", f"/v1/credentials/{credential['id']}", {"expires_at": None})
