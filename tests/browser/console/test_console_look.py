"""Tests of the console's layout: controls do not overlap, and marks lie inside their controls."""

from typing import Any

from playwright.async_api import expect

from tests.browser.console.steps import AGENTS, open_page

AGENT = {"primary_model": "local/smollm2-135m", "system_prompt": "You help."}


async def box(found: Any) -> dict[str, float]:
    await found.first.wait_for()
    return await found.first.bounding_box()


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


async def test_the_mark_of_a_choice_lies_inside_its_control(site, page):
    await site.call("POST", AGENTS, {**AGENT, "name": "Marked"})
    await open_page(site, page, "/agents")
    control = await box(page.get_by_role("radiogroup", name="Status"))
    mark = await box(page.locator(".mantine-SegmentedControl-indicator"))
    above, below = (
        mark["y"] - control["y"],
        control["y"] + control["height"] - mark["y"] - mark["height"],
    )
    assert above > 0
    assert abs(above - below) <= 1


async def test_what_is_said_in_passing_does_not_lie_over_the_composer(site, page):
    await page.set_viewport_size({"width": 1440, "height": 900})
    agent_id = (await site.call("POST", AGENTS, {**AGENT, "name": "Passing"}))["id"]
    await open_page(site, page, f"/agents/{agent_id}")
    await page.get_by_role("button", name="Publish").first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Publish").last.click()
    said = page.get_by_role("status").get_by_text("is live")
    assert not overlap(await box(said), await box(page.get_by_label("Say something")))
    await page.get_by_role("status").get_by_role("button", name="Close").click()
    await expect(said).to_have_count(0)


async def test_a_service_account_on_a_phone_keeps_its_parts_apart(site, page):
    body = {"name": "Nightly export", "permissions": ["agents:read"]}
    account = await site.call("POST", "/api/v1/service-accounts", body)
    await page.set_viewport_size({"width": 390, "height": 844})
    await open_page(site, page, "/settings/service-accounts")
    row = page.get_by_role("listitem").filter(has_text=account["client_id"])
    id_box = await box(row.get_by_text(account["client_id"]))
    assert not overlap(id_box, await box(row.get_by_role("button", name="Secrets")))
    assert not overlap(id_box, await box(row.get_by_text("Active")))
    await site.call("DELETE", f"/api/v1/service-accounts/{account['id']}")


async def test_the_name_of_a_tool_has_room_beside_what_can_be_ticked(site, page):
    await page.set_viewport_size({"width": 1440, "height": 900})
    agent_id = (await site.call("POST", AGENTS, {**AGENT, "name": "Crafts"}))["id"]
    config = {"config": {"url": "https://example.com/", "method": "POST"}, "tool_type": "webhook"}
    name = "Look up the state of an order in the warehouse"
    tool = {"name": name, "category": "custom", "auth_type": "none", **config}
    made = (await site.call("POST", "/v1/tools", tool))["data"]
    attached = {"tool_id": made["id"], "always_offered": True}
    await site.call("POST", f"/v1/agents/{agent_id}/tools", attached)
    await open_page(site, page, f"/agents/{agent_id}")
    shown = page.get_by_role("list", name="Can do").get_by_text(name, exact=True)
    await shown.wait_for()
    assert await shown.evaluate("name => name.scrollWidth <= name.clientWidth")
