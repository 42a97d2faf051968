"""The list of agents: figures, choosing several, templates, duplicates and files."""

import json
import secrets
from pathlib import Path

from playwright.async_api import expect

from tests.browser.console.steps import AGENTS, axe, open_page

AGENT = {"primary_model": "local/smollm2-135m", "system_prompt": "You help."}
PHONE = {"width": 390, "height": 844}


async def test_several_agents_are_published_and_exported_at_once(site, page):
    for number in (1, 2):
        await site.call("POST", AGENTS, {**AGENT, "name": f"Bulky {number}"})
    await open_page(site, page, "/agents?search=Bulky")
    await page.get_by_role("checkbox", name="Select all on this page").check()
    bar = page.get_by_role("region", name="Selected agents")
    assert await axe(page) == []
    await bar.get_by_role("button", name="Publish").click()
    await page.get_by_role("status").get_by_text("2 agents are live.").wait_for()
    await page.get_by_role("row").filter(has_text="Bulky 2").get_by_text("Published").wait_for()
    await page.get_by_role("checkbox", name="Select Bulky 1").check()
    async with page.expect_download() as saved:
        await bar.get_by_role("button", name="Export").click()
    file = json.loads(Path(await (await saved.value).path()).read_text())
    assert (file["format"], file["agent"]["name"]) == ("retinue.agent/1", "Bulky 1")


async def test_an_agent_is_duplicated_and_one_comes_from_a_file(site, page, tmp_path):
    await site.call("POST", AGENTS, {**AGENT, "name": "Original"})
    await open_page(site, page, "/agents?search=Original")
    await page.get_by_role("button", name="Actions for Original").click()
    await page.get_by_role("menuitem", name="Duplicate").click()
    await page.get_by_role("link", name="Original (copy)").wait_for()
    agent = {**AGENT, "name": "Traveller"}
    file = tmp_path / "traveller.json"
    file.write_text(json.dumps({"format": "retinue.agent/1", "agent": agent, "tools": [{"slug": "no-such"}]}))
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Import a file").click()
    await (await chooser.value).set_files(file)
    dialog = page.get_by_role("dialog", name="Traveller is imported as a draft.")
    await dialog.get_by_text("There is no tool no-such here.").wait_for()
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Open playground").click()
    await page.get_by_role("heading", name="Traveller").wait_for()


async def test_a_template_fills_in_a_new_agent(site, page):
    await open_page(site, page, "/agents?create=true&template=support_desk")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("Upload your help pages").wait_for()
    assert await dialog.get_by_label("Name", exact=True).input_value() == "Support desk"
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Create agent").click()
    await page.get_by_role("heading", name="Support desk").wait_for()


async def test_a_double_click_creates_and_publishes_once(site, page):
    await open_page(site, page, "/agents?create=true&template=support_desk")
    sent = []
    page.on("request", lambda one: sent.append(f"{one.method} {one.url}") if one.method != "GET" else None)
    name = f"Once {secrets.token_hex(4)}"
    await page.get_by_role("dialog").get_by_text("Upload your help pages").wait_for()
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_role("dialog").get_by_role("button", name="Create agent").dblclick()
    await page.get_by_role("heading", name=name).wait_for()
    await page.get_by_role("button", name="Publish").first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Publish").last.dblclick(delay=60)
    await page.get_by_role("status").get_by_text("is live").wait_for()
    assert sorted(set(sent)) == sorted(sent)
    assert any(one.endswith("/publish") for one in sent)
    assert len((await site.call("GET", f"{AGENTS}?search={name[5:]}"))["data"]) == 1


async def test_rows_are_walked_through_after_a_filter_was_chosen(site, page):
    for number in (1, 2):
        made = await site.call("POST", AGENTS, {**AGENT, "name": f"Walked {number}"})
        await site.call("POST", f"{AGENTS}/{made['id']}/publish", {})
    await open_page(site, page, "/agents?search=Walked")
    await page.get_by_role("radiogroup", name="Status").get_by_text("Published").click()
    await expect(page.get_by_role("radio", name="Published")).to_be_checked()
    rows = page.locator("[data-row]")
    await expect(rows).to_have_count(2)
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        await page.keyboard.press(key)
        await expect(rows.nth(place)).to_be_focused()
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Walked").wait_for()


async def test_the_list_fits_a_phone_and_is_accessible_in_both_schemes(site, page):
    await site.call("POST", AGENTS, {**AGENT, "name": "Small screen", "description": "A long sentence " * 8})
    await open_page(site, page, "/agents")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for size in ({"width": 1440, "height": 900}, PHONE):
            await page.set_viewport_size(size)
            assert await axe(page) == [], (scheme, size)
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
