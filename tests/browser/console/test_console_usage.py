"""Usage in the console: figures by agent and others, budgets with their forecast, prices, and limits."""

import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.console.steps import AGENTS, LOOKS, agent_with_tool, axe, open_page
from tests.tools.servers.rest_api import rest_api

MANY = 300
SPENT = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}


@pytest.fixture
async def agent(site):
    """An agent that has answered twice with a model that nobody has priced."""
    async with provider_server() as provider, rest_api() as remote:
        agent_id, _ = await agent_with_tool(site, provider, f"{remote.url}/refunds")
        name = f"Meter {agent_id[-6:]}"
        await site.call("PUT", f"{AGENTS}/{agent_id}", {"name": name})
        for question in ("Where is order 10482?", "Thank you"):
            provider.says("On its way.", usage=SPENT)
            await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": question})
        read = await site.call("GET", f"{AGENTS}/{agent_id}")
        yield {"id": agent_id, "name": name, "model": read["primary_model"]}
        await site.call("DELETE", f"{AGENTS}/{agent_id}?force=true")


async def _fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


async def _remove_budgets(site) -> None:
    for budget in (await site.call("GET", "/api/v1/budgets?per_page=100"))["data"]:
        await site.call("DELETE", f"/api/v1/budgets/{budget['id']}")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_what_has_no_price_is_never_called_nothing(site, page, agent, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/usage?what=tokens")
    table = page.get_by_role("region", name="By agent")
    row = table.get_by_role("row").filter(has_text=agent["name"])
    await expect(row).to_contain_text("No price")
    await expect(row).not_to_contain_text("$0")
    await expect(page.get_by_role("table", name="Tokens a day").get_by_role("row").last).to_contain_text(
        re.compile("[0-9]k")
    )
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_text("By model", exact=True).click()
    await expect(page).to_have_url(re.compile("by=model"))
    await expect(
        page.get_by_role("region", name="By model").get_by_role("row").filter(has_text=agent["model"])
    ).to_contain_text("No price")


@pytest.mark.parametrize("group", ["By person", "By channel", "By key"])
async def test_usage_is_split_by_whoever_and_whatever_used_it(site, page, agent, group):
    await open_page(site, page, "/usage?what=chats&period=24h")
    await page.get_by_role("region", name="By agent").get_by_role("link", name=agent["name"]).wait_for()
    await page.get_by_text(group, exact=True).click()
    table = page.get_by_role("region", name=group)
    await expect(table.get_by_role("row")).not_to_have_count(1)
    assert await axe(page) == []
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Export").click()
    file = await started.value
    assert file.suggested_filename.startswith("usage-")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_budget_is_made_changed_and_removed(site, page, agent, scheme, width):
    await _remove_budgets(site)
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/usage/budgets")
    await page.get_by_role("heading", name="No budgets yet").wait_for()
    await page.get_by_role("link", name="Add budget").first.click()
    await page.get_by_role("combobox", name="Limits").click()
    await page.get_by_role("option", name="Agent").click()
    await page.get_by_role("combobox", name="Agent").fill(agent["name"])
    await page.get_by_role("option", name=agent["name"]).click()
    await page.get_by_label("Limit", exact=True).fill("4000")
    await page.get_by_text("Tokens", exact=True).click()
    await page.get_by_text(f"{agent['name']}: 4k tokens a month").wait_for()
    assert await axe(page) == []
    assert await _fits(page)
    assert (await site.call("GET", "/api/v1/budgets"))["data"] == []
    await page.get_by_role("button", name="Create budget").click()
    line = page.get_by_role("list", name="Budgets").get_by_role("listitem").filter(has_text=agent["name"])
    await expect(line).to_contain_text("2k of 4k tokens this month")
    assert await axe(page) == []
    assert await _fits(page)
    await line.get_by_role("button", name=re.compile("^Change")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Limit", exact=True).fill("1000")
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Save budget").click()
    await expect(line).to_contain_text("Used up: chats are refused until")
    await line.get_by_role("button", name=re.compile("^Change")).click()
    await dialog.get_by_role("button", name="Remove").click()
    await dialog.get_by_role("button", name="Remove this budget").click()
    await page.get_by_role("heading", name="No budgets yet").wait_for()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_model_without_a_price_gets_one(site, page, agent, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, f"/usage/prices?search={agent['model'].rpartition('/')[2]}")
    await page.get_by_role("list", name="Models without a price").wait_for()
    assert await axe(page) == []
    assert await _fits(page)
    await page.get_by_role("button", name=f"Set the price of {agent['model']}").click()
    form = page.get_by_role("dialog")
    await form.get_by_label("Input price").fill("0.2")
    await form.get_by_label("Output price").fill("0.8")
    assert await axe(page) == []
    await form.get_by_role("button", name="Save price").click()
    row = page.get_by_role("row").filter(has_text=agent["model"])
    await expect(row).to_contain_text("$0.80")
    await row.get_by_role("button", name=re.compile("^Change the price")).click()
    await form.get_by_role("button", name="Remove own price").click()
    await expect(row).to_have_count(0)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_limits_say_who_decides_and_lead_to_the_keys(site, page, agent, scheme, width):
    key = {"agent_id": agent["id"], "name": f"Shop {agent['id'][-6:]}", "monthly_token_budget": 5000}
    await site.call("POST", "/api/v1/embed/api-keys", key)
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await open_page(site, page, "/usage/limits")
    plan = page.get_by_role("table", name="Limits of the plan")
    await expect(plan.get_by_role("row").filter(has_text="Cost units a minute")).to_contain_text("12,000")
    await page.get_by_text("A super administrator of this server").wait_for()
    keys = page.get_by_role("table", name="Keys of pages")
    assert await axe(page) == []
    assert await _fits(page)
    await keys.get_by_role("link", name=key["name"]).click()
    await expect(page).to_have_url(re.compile(f"/agents/{agent['id']}/share"))


def _many(group: str | None) -> dict[str, object]:
    """A report of more agents than a chart can draw; the server of this test has no time to make them."""
    counters = dict.fromkeys(
        ("requests", "messages", "cached_tokens", "storage_bytes", "unpriced_tokens", "tool_executions"), 0
    )
    rows = [
        {
            **counters,
            "start": "2026-11-01T00:00:00.000000Z",
            "group": {group: f"agt_{number:03}"} if group else {},
            "chat_requests": number,
            "total_tokens": number * 100,
            "estimated_cost_usd": number / 100,
        }
        for number in range(1, MANY + 1)
    ]
    sums = {name: sum(row[name] for row in rows) for name in ("chat_requests", "total_tokens")}
    totals = {**counters, **sums, "estimated_cost_usd": sum(row["estimated_cost_usd"] for row in rows)}
    return {"totals": totals, "data": rows}


# The answers come from the test: three hundred agents would take minutes to make.
@pytest.mark.parametrize("width", [1440, 390])
async def test_hundreds_of_agents_are_five_series_and_pages_of_a_table(site, page, width):
    asked = []

    async def answer(route):
        query = route.request.url.partition("?")[2]
        asked.append(query)
        await route.fulfill(json=_many("agent" if "group_by=agent" in query else None))

    await page.set_viewport_size({"width": width, "height": 900})
    await page.route("**/api/v1/usage?**", answer)
    await open_page(site, page, "/usage")
    table = page.get_by_role("region", name="By agent")
    await expect(table.get_by_role("row")).to_have_count(21)
    await page.get_by_text("295 others").first.wait_for()
    assert all(query.count("agt_") <= 20 for query in asked)
    await table.get_by_role("button", name="Next").click()
    await expect(table.get_by_role("row")).to_have_count(21)
    await expect(page).to_have_url(re.compile("page=2"))
    assert await axe(page) == []
    assert await _fits(page)
