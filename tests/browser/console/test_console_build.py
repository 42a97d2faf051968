"""The Build page: a draft that saves itself beside a playground that runs it."""

import asyncio
import re
import secrets

import msgspec
import pytest
from playwright.async_api import expect

from tests.adapters.llm_replies import Call
from tests.browser.console.build_page import (
    draft_of,
    instructions,
    production,
    say,
    speak_slowly,
    system_prompt,
    talker,
    write,
)
from tests.browser.console.steps import AGENTS, LOOKS, agent_that_asks_first, axe, open_page
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD


@pytest.mark.journey
async def test_a_draft_is_saved_tried_and_published_while_production_waits(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        await write(page, " Answer in rhymes.")
        await page.get_by_text("1 change not published").wait_for()
        await page.get_by_text("Saved", exact=True).wait_for()
        assert await page.locator(".cm-changed").count() == 1
        assert (await draft_of(site, agent_id))["snapshot"]["system_prompt"] == "You help. Answer in rhymes."
        assert await production(site, agent_id) == "You help."
        await write(page, " Always.")
        provider.says("A rhyme in time.")
        await say(page, "Hello")
        log = page.get_by_role("log")
        await log.get_by_text("A rhyme in time.").wait_for()
        # What was typed a moment ago is part of what answers.
        assert system_prompt(provider).startswith("You help. Answer in rhymes. Always.")
        await log.get_by_text(re.compile(r"first word \d+")).wait_for()
        await page.get_by_role("button", name="Publish").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name=re.compile("^Publish")).click()
        await dialog.wait_for(state="detached")
        said = page.get_by_role("status").filter(has_text=re.compile(r"v\d+ is live\."))
        await expect(said.get_by_role("link", name="Share it")).to_have_attribute(
            "href", f"/console/agents/{agent_id}/share"
        )
        await expect(page.get_by_text("not published")).to_have_count(0)
        assert await production(site, agent_id) == "You help. Answer in rhymes. Always."
        await expect(page.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")


@pytest.mark.slow
async def test_a_draft_is_discarded_and_the_editor_shows_what_is_published(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await open_page(site, page, f"/agents/{agent_id}")
        await write(page, " Forget this.")
        await page.keyboard.press("Control+s")
        await page.get_by_text("Saved", exact=True).wait_for()
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Discard draft").click()
        await page.get_by_role("dialog").get_by_role("button", name="Discard draft").click()
        await expect(instructions(page)).to_have_text("You help.")
        assert not (await draft_of(site, agent_id))["is_stored"]


async def test_tools_are_attached_ordered_and_made_to_require_approval(site, page):
    async with talker(site) as (agent_id, _, _provider):
        name = f"Parcel {secrets.token_hex(4)}"
        config = {"config": {"url": "http://127.0.0.1:9/x", "method": "POST"}, "auth_type": "none"}
        await site.call(
            "POST", "/v1/tools", {"name": name, "category": "custom", "tool_type": "webhook", **config}
        )
        await open_page(site, page, f"/agents/{agent_id}")
        await page.get_by_role("button", name="Tool", exact=True).click()
        await page.get_by_label("Find a tool").fill(name)
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.get_by_role("checkbox", name=f"{name} requires approval").check()
        await page.get_by_role("button", name=f"Move {name} up").click()
        await page.get_by_role("switch", name=re.compile("^Use Orders")).uncheck(force=True)
        await page.keyboard.press("Control+s")
        await page.get_by_text("Saved", exact=True).wait_for()
        first, second = (await draft_of(site, agent_id))["snapshot"]["tools"]
        assert (first["name"], first["requires_approval"], first["display_order"]) == (name, True, 0)
        assert (second["is_enabled"], second["display_order"]) == (False, 1)
        assert len((await site.call("GET", f"/v1/agents/{agent_id}/tools"))["data"]) == 1, "production waits"
        await page.get_by_role("button", name=f"Remove {name}").click()
        await page.keyboard.press("Control+s")
        await expect(page.get_by_role("checkbox", name=f"{name} requires approval")).to_have_count(0)


async def test_a_tool_and_a_sub_agent_of_the_pickers_are_saved_and_answer(site, page):
    async with talker(site) as (agent_id, _, provider):
        tool, helper = (f"{kind} {secrets.token_hex(4)}" for kind in ("Parcel", "Helper"))
        config = {"config": {"url": "http://127.0.0.1:9/x", "method": "POST"}, "auth_type": "none"}
        await site.call(
            "POST", "/v1/tools", {"name": tool, "category": "custom", "tool_type": "webhook", **config}
        )
        body = {"name": helper, "primary_model": "local/smollm2-135m", "system_prompt": "You help out."}
        await site.call("POST", AGENTS, body)
        await open_page(site, page, f"/agents/{agent_id}")
        for button, field, name in (("Tool", "Find a tool", tool), ("Agent", "Find an agent", helper)):
            await page.get_by_role("button", name=button, exact=True).click()
            await page.get_by_label(field).fill(name)
            await page.get_by_role("option", name=name).wait_for()
            await page.keyboard.press("ArrowDown")
            await page.keyboard.press("Enter")
            await page.get_by_role("button", name=f"Remove {name}").wait_for()
            # It saves itself.
            await page.get_by_text("Saved", exact=True).wait_for()
            await expect(page.get_by_role("alert")).to_have_count(0)
        snapshot = (await draft_of(site, agent_id))["snapshot"]
        assert tool in [one["name"] for one in snapshot["tools"]]
        assert [one["name"] for one in snapshot["sub_agents"]] == [helper]
        provider.says("With all hands.")
        await say(page, "Hello")
        await page.get_by_role("log").get_by_text("With all hands.").wait_for()
        offered = str(provider.last.json["tools"])
        assert tool.lower().replace(" ", "-") in offered.lower()


async def test_numbers_are_shown_and_typed_as_the_language_writes_them(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"max_tokens": 4096, "temperature": 0.7})
        await open_page(site, page, f"/agents/{agent_id}")
        await expect(page.get_by_label("Max output tokens")).to_have_value("4,096")
        await page.evaluate("localStorage.setItem('retinue-language', 'de')")
        await page.reload()
        field = page.get_by_label("Max. Ausgabe-Tokens")
        await expect(field).to_have_value("4.096")
        await expect(page.get_by_text("0,7", exact=True)).to_be_visible()
        effort = page.get_by_role("combobox", name="Denkaufwand")
        assert await effort.evaluate("field => field.scrollWidth <= field.clientWidth")
        await field.fill("")
        await field.press_sequentially("2.048")
        await expect(field).to_have_value("2.048")
        await page.keyboard.press("Control+s")
        await page.get_by_text("Gespeichert", exact=True).wait_for()
        assert (await draft_of(site, agent_id))["snapshot"]["max_tokens"] == 2048
        await page.goto(f"{site.url}/console/agents/{agent_id}/statistics")
        await page.get_by_role("button", name="Budget hinzufügen").click()
        limit = page.get_by_role("dialog").get_by_role("textbox", name="Limit")
        await limit.press_sequentially("1.234,5")
        await expect(limit).to_have_value("1.234,5")


@pytest.mark.slow
async def test_model_knowledge_and_sub_agents_are_part_of_the_draft(site, page):
    async with talker(site) as (agent_id, _, _provider):
        clerk = {"name": f"Clerk {secrets.token_hex(4)}", "primary_model": "local/x", "system_prompt": "x"}
        clerk_id = (await site.call("POST", AGENTS, clerk))["id"]
        await open_page(site, page, f"/agents/{agent_id}")
        await page.get_by_label("Max output tokens").fill("")
        await page.get_by_role("slider", name="Temperature").press("ArrowRight")
        await page.get_by_role("switch", name="Web search").check(force=True)
        await page.get_by_label("Results per search").fill("9")
        await page.get_by_label("Allowed domains").fill("example.com, example.org")
        await page.get_by_role("button", name="Agent", exact=True).click()
        await page.get_by_label("Find an agent").fill(clerk["name"])
        await page.get_by_role("option", name=clerk["name"]).click()
        await page.get_by_label(f"When {clerk['name']} is asked").fill("Ask it about parcels.")
        await page.get_by_role("textbox", name="Description").fill("Helps with orders")
        await page.keyboard.press("Control+s")
        await page.get_by_text("Saved", exact=True).wait_for()
        snapshot = (await draft_of(site, agent_id))["snapshot"]
        assert (snapshot["max_tokens"], snapshot["temperature"]) == (None, 0.75)
        search = snapshot["web_search"]
        assert (search["enabled"], search["max_results"]) == (True, 9)
        assert search["allowed_domains"] == ["example.com", "example.org"]
        (sub,) = snapshot["sub_agents"]
        assert (sub["id"], sub["delegation_prompt"]) == (clerk_id, "Ask it about parcels.")
        assert snapshot["description"] == "Helps with orders"


async def open_as(site, page, role, agent_id):
    """Open the agent as a new person of this role."""
    email = f"{secrets.token_hex(6)}@example.com"
    invited = await site.call("POST", "/users/invite", {"email": email, "role": role})
    token = re.findall(r"invite_token=([\w-]+)", invited["invite_url"])[0]
    person = {"email": email, "password": ADMIN_PASSWORD, "first_name": "Ada", "last_name": "Reader"}
    status, answer = await call(
        site.server.port, "POST", "/auth/register", body={**person, "invite_token": token}
    )
    assert status == 201, answer
    await page.emulate_media(reduced_motion="reduce")
    await page.goto(f"{site.url}/console/agents/{agent_id}")
    await page.get_by_label("Email").fill(email)
    await page.get_by_label("Password", exact=True).fill(ADMIN_PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_text("Needs the permission “Agents: change”").wait_for()


async def test_who_may_only_look_is_not_told_to_try(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await open_as(site, page, "viewer", agent_id)
        await page.get_by_text("You can view this agent, but not change or try it.").wait_for()
        await page.get_by_text("Needs the permission “Agents: chat”").wait_for()
        await expect(page.get_by_label("Say something")).to_have_count(0)


async def test_a_reader_sees_why_nothing_can_be_changed(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_as(site, page, "agent_user", agent_id)
        await page.get_by_text("You can view and try this agent, but not change it.").wait_for()
        await expect(instructions(page)).to_have_attribute("contenteditable", "false")
        await expect(page.get_by_label("Max output tokens")).to_be_disabled()
        await expect(page.get_by_role("button", name="Tool", exact=True)).to_have_count(0)
        await expect(page.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")
        provider.says("As it is published.")
        await say(page, "Hello")
        await page.get_by_role("log").get_by_text("As it is published.").wait_for()
        assert await axe(page) == []
        # Home leads people who build nothing to the agents, and not to a page that refused them.
        await page.goto(f"{site.url}/console/settings/models")
        await page.get_by_text("This needs the permission “Provider keys: see”").wait_for()
        await page.goto(f"{site.url}/console/")
        recent = page.get_by_role("region", name="Recently visited")
        await recent.wait_for()
        await expect(recent.get_by_role("link", name=re.compile("Settings"))).to_have_count(0)
        talk = page.get_by_role("region", name="Agents").get_by_role("link", name=re.compile("^Talk"))
        await talk.first.wait_for()
        assert await axe(page) == []


async def test_a_reply_goes_on_by_itself_once_its_approval_is_decided(site, page):
    async with talker(site, agent_that_asks_first) as (agent_id, slug, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        order = msgspec.json.encode({"order": "10482", "amount": 184}).decode()
        provider.says("I ask a colleague.", Call(slug, order, "call_1"))
        provider.says("The refund is on its way.")
        await say(page, "Refund order 10482")
        log = page.get_by_role("log")
        await log.get_by_text("Waiting for a person").wait_for()
        assert await axe(page) == []
        # Whoever looks elsewhere and comes back still hears the rest.
        await page.reload()
        await log.get_by_text("Waiting for a person").wait_for()
        address = await log.get_by_role("link", name="Decide").get_attribute("href")
        approval_id = re.findall(r"apv_\w+", address)[0]
        await site.call("POST", f"/api/v1/approvals/{approval_id}/approve", {})
        await log.get_by_text("The refund is on its way.").wait_for()
        await expect(log.get_by_text("Waiting for a person")).to_have_count(0)
        await expect(log.get_by_text("I ask a colleague.")).to_have_count(1)


async def test_a_reload_goes_on_with_the_reply_and_a_stop_keeps_what_was_said(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        gate = asyncio.Event()
        # The last characters are held back until it is clear that they are no secret.
        provider.fails(speak_slowly([*(f"word{n} " for n in range(80)), "end."], 0.01, gate))
        await say(page, "Count")
        log = page.get_by_role("log")
        await log.get_by_text("word0 word1").wait_for()
        await page.reload()
        await log.get_by_text("word0 word1").wait_for()
        gate.set()
        await log.get_by_text("word79 end.").wait_for()
        await expect(log.get_by_text("Count")).to_have_count(1)
        provider.fails(speak_slowly([f"story{n} " for n in range(80)], 0.01, asyncio.Event()))
        await say(page, "Tell")
        await log.get_by_text("story0 story1").wait_for()
        await page.get_by_label("Say something").press("Escape")
        await log.get_by_text("stopped").wait_for()
        await log.get_by_role("button", name="Good answer").last.click()
        await expect(log.get_by_role("button", name="Good answer").last).to_have_attribute(
            "aria-pressed", "true"
        )
        await page.get_by_role("button", name="New conversation").click()
        await expect(log.get_by_text("story0 story1")).to_have_count(0)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_axe_finds_nothing_while_one_edits_and_tries(site, page, scheme, width):
    async with talker(site) as (agent_id, slug, provider):
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size({"width": width, "height": 900})
        await open_page(site, page, f"/agents/{agent_id}")
        await write(page, "\n# Tone\nSpeak {{language}}.")
        await page.get_by_role("switch", name="Web search").check(force=True)
        await page.get_by_text("Context, time limits and cache").click()
        await page.keyboard.press("Control+s")
        await page.get_by_text(re.compile("^[23] changes")).locator("visible=true").first.wait_for()
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if width == 390:
            await expect(page.get_by_role("log")).to_be_hidden()
            await page.get_by_text("Try", exact=True).click()
            await expect(instructions(page)).to_be_hidden()
        provider.says("", Call(slug, '{"amount": 7}', "call_1"))
        provider.says("It is **late**.")
        await say(page, "Where is it?")
        await page.get_by_role("log").get_by_role("button", name="Trace").click()
        await page.get_by_role("log").get_by_text("Model call").first.wait_for()
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_everything_is_reached_by_keyboard_alone(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        await instructions(page).focus()
        await page.keyboard.press("Control+End")
        await page.keyboard.type(" By keyboard.")
        await page.keyboard.press("Control+s")
        await page.get_by_text("Saved", exact=True).wait_for()
        # Tab leaves the editor instead of writing a tab into it.
        await page.keyboard.press("Tab")
        await expect(instructions(page)).not_to_be_focused()
        separator = page.get_by_role("separator", name="Width of the draft")
        before = int(await separator.get_attribute("aria-valuenow"))
        await separator.focus()
        await page.keyboard.press("ArrowLeft")
        await page.keyboard.press("ArrowLeft")
        assert int(await separator.get_attribute("aria-valuenow")) == before - 4
        await page.get_by_label("Say something").focus()
        provider.says("Heard.")
        await page.keyboard.type("One")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("Two")
        await page.keyboard.press("Enter")
        await page.get_by_role("log").get_by_text("Heard.").wait_for()
        assert provider.last.json["messages"][-1]["content"].startswith("One\nTwo")
        await page.keyboard.press("Escape")
        await page.keyboard.press("t")
        await page.get_by_role("link", name="Open the trace").wait_for()
        await page.reload()
        await separator.wait_for()
        assert int(await separator.get_attribute("aria-valuenow")) == before - 4, "the width is remembered"
        await page.get_by_role("log").get_by_text("Heard.").wait_for()
