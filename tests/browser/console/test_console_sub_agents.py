"""Agents that belong to one agent alone, made and changed on its Build page."""

import re

from playwright.async_api import expect

from tests.browser.console.steps import AGENTS, axe, open_page

LEADER = {"name": "Leader", "primary_model": "local/smollm2-135m", "system_prompt": "You lead."}


async def subs_of(site, agent_id):
    return (await site.call("GET", f"{AGENTS}/{agent_id}/draft"))["snapshot"]["sub_agents"]


async def test_an_own_sub_agent_is_made_changed_published_and_removed(site, page):
    agent_id = (await site.call("POST", AGENTS, LEADER))["id"]
    await site.call("POST", f"{AGENTS}/{agent_id}/publish", {})
    await open_page(site, page, f"/agents/{agent_id}")
    await page.get_by_role("button", name="New sub-agent").click()
    dialog = page.get_by_role("dialog", name="New sub-agent")
    await dialog.get_by_label("Name").fill("Scribe")
    await expect(dialog.get_by_role("button", name="Add")).to_be_disabled()
    await dialog.get_by_label("Instructions").fill("You write minutes.")
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Add").click()
    await page.get_by_label("When Scribe is asked").fill("For minutes.")
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved", exact=True).wait_for()
    (sub,) = await subs_of(site, agent_id)
    assert (sub["relationship_type"], sub["name"], sub["delegation_prompt"]) == (
        "direct",
        "Scribe",
        "For minutes.",
    )
    assert sub["agent"]["primary_model"] == LEADER["primary_model"]
    # It is changed in place, and what was not asked for stays.
    await page.get_by_role("button", name="Edit Scribe").click()
    dialog = page.get_by_role("dialog", name="Edit Scribe")
    await dialog.get_by_label("Name").fill("Secretary")
    await dialog.get_by_role("button", name="Apply").click()
    await page.get_by_role("button", name="Publish").first.click()
    await page.get_by_role("dialog").get_by_role("button", name=re.compile(r"^Publish v\d")).click()
    await page.get_by_role("status").get_by_text(re.compile(r"Leader v\d is live\.")).wait_for()
    (live,) = (await site.call("GET", f"{AGENTS}/{agent_id}/sub-agents"))["data"]
    assert (live["id"], live["name"], live["system_prompt"]) == (sub["id"], "Secretary", "You write minutes.")
    await page.get_by_role("button", name="Remove Secretary").click()
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved", exact=True).wait_for()
    assert await subs_of(site, agent_id) == []
