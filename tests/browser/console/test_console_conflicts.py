"""Drafts that somebody else changed, or that could not be saved."""

import asyncio

from playwright.async_api import expect

from tests.browser.console.build_page import draft_of, instructions, talker, write
from tests.browser.console.steps import AGENTS, axe, open_page

UNPUBLISHED = {"name": "Clerk", "primary_model": "local/smollm2-135m", "system_prompt": "You help."}


async def test_two_windows_that_change_one_draft_are_told_of_each_other(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await open_page(site, page, f"/agents/{agent_id}")
        await instructions(page).wait_for()
        changed = {"snapshot": {"system_prompt": "You help kindly."}}
        await site.call("PUT", f"{AGENTS}/{agent_id}/draft", changed)
        await write(page, " Mine.")
        await page.keyboard.press("Control+s")
        await page.get_by_role("alert").get_by_text("changed this draft").wait_for()
        assert await axe(page) == []
        await page.get_by_role("button", name="Keep mine").click()
        await page.get_by_text("Saved", exact=True).wait_for()
        assert (await draft_of(site, agent_id))["snapshot"]["system_prompt"] == "You help. Mine."
        await site.call("PUT", f"{AGENTS}/{agent_id}/draft", changed)
        await write(page, " More.")
        await page.keyboard.press("Control+s")
        await page.get_by_role("button", name="Load theirs").click()
        await expect(instructions(page)).to_have_text("You help kindly.")
        assert (await draft_of(site, agent_id))["snapshot"]["system_prompt"] == "You help kindly."


async def test_the_ways_out_of_a_conflict_are_in_sight_and_publish_leads_to_them(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await page.set_viewport_size({"width": 1280, "height": 720})
        await open_page(site, page, f"/agents/{agent_id}")
        await instructions(page).wait_for()
        await site.call(
            "PUT", f"{AGENTS}/{agent_id}/draft", {"snapshot": {"system_prompt": "You help kindly."}}
        )
        await page.get_by_role("textbox", name="Description").fill("Mine")
        await page.keyboard.press("Control+s")
        alert = page.get_by_role("alert")
        await alert.get_by_text("changed this draft").wait_for()
        await page.get_by_text("Context, time limits and cache").scroll_into_view_if_needed()
        await expect(page.get_by_role("button", name="Keep mine")).to_be_in_viewport()
        sent = []
        page.on("request", lambda request: sent.append(request.method) if "/draft" in request.url else None)
        await page.get_by_role("button", name="Publish", exact=True).click()
        await expect(alert).to_be_focused()
        assert "PUT" not in sent
        await page.set_viewport_size({"width": 390, "height": 844})
        await page.get_by_text("Try", exact=True).click()
        await expect(page.get_by_role("button", name="Load theirs")).to_be_in_viewport()
        assert await axe(page) == []
        async with page.expect_response(lambda one: one.request.method == "PUT" and "/draft" in one.url):
            await page.get_by_role("button", name="Keep mine").click()
        await expect(alert).to_have_count(0)
        assert (await draft_of(site, agent_id))["snapshot"]["description"] == "Mine"


async def test_text_that_could_not_be_saved_survives_a_reload(site, page):
    async with talker(site) as (agent_id, _, _provider):
        await open_page(site, page, f"/agents/{agent_id}")
        await page.route(
            "**/draft", lambda route: route.abort() if route.request.method == "PUT" else route.continue_()
        )
        await write(page, " Kept.")
        await page.keyboard.press("Control+s")
        await page.get_by_role("alert").get_by_text("Your text is kept in this browser.").wait_for()
        await page.reload()
        await expect(instructions(page)).to_have_text("You help. Kept.")
        assert not (await draft_of(site, agent_id))["is_stored"]
        await page.unroute("**/draft")
        await page.keyboard.press("Control+s")
        await page.get_by_text("Saved", exact=True).wait_for()
        assert (await draft_of(site, agent_id))["snapshot"]["system_prompt"] == "You help. Kept."


async def test_nothing_is_published_without_a_change_that_could_not_be_saved(site, page):
    agent_id = (await site.call("POST", AGENTS, UNPUBLISHED))["id"]
    await open_page(site, page, f"/agents/{agent_id}")
    await page.route(
        "**/draft", lambda route: route.abort() if route.request.method == "PUT" else route.continue_()
    )
    await write(page, " Kept.")
    await page.get_by_role("link", name="Share").click()
    await page.get_by_role("alert").get_by_text("are not saved, and would not be published").wait_for()
    await page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("alert").wait_for()
    await expect(dialog.get_by_role("button", name="Publish")).to_have_count(0)
    await page.unroute("**/draft")
    await dialog.get_by_role("link", name="Open Build").click()
    await page.get_by_text("Saved", exact=True).wait_for()
    # What was typed a moment ago is saved before the review.
    await write(page, " And more.")
    await page.get_by_role("link", name="Share").click()
    await page.get_by_role("button", name="Publish", exact=True).click()
    await dialog.get_by_text("And more.").wait_for()
    await expect(page.get_by_text("are not saved")).to_have_count(0)
    page.problems.clear()


async def test_a_draft_that_i_published_elsewhere_is_not_somebody_elses(site, page):
    async with talker(site) as (agent_id, _, _provider):
        changed = {"snapshot": {"system_prompt": "You help kindly."}}
        await site.call("PUT", f"{AGENTS}/{agent_id}/draft", changed)
        await open_page(site, page, f"/agents/{agent_id}")
        await instructions(page).wait_for()
        may_read = asyncio.Event()

        async def read_late(route):
            """Delay the read of the published version: an earlier one would prevent the conflict."""
            if route.request.method == "GET":
                await may_read.wait()
            await route.continue_()

        await page.route("**/draft", read_late)
        made = await site.call("POST", f"{AGENTS}/{agent_id}/publish", {"from_draft": True})
        await write(page, " Mine.")
        await page.keyboard.press("Control+s")
        version = f"v{made['version']}"
        await page.get_by_role("alert").get_by_text(f"You published {version} meanwhile.").wait_for()
        may_read.set()
        await page.get_by_role("button", name=f"Load {version}").click()
        await expect(instructions(page)).to_have_text("You help kindly.")
