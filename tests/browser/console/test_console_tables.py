"""Data tables in the console: a list, a grid that keys drive, columns that are tried first, and imports."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.console.steps import LOOKS, axe, open_page

TABLES = "/api/v1/data-tables"
COLUMNS: list[dict[str, Any]] = [
    {"name": "order", "type": "text", "unique": True},
    {"name": "customer", "type": "email"},
    {"name": "state", "type": "select", "options": ["received", "waits", "refused"]},
    {"name": "amount", "type": "number", "indexed": True},
    {"name": "pieces", "type": "integer"},
    {"name": "came_in", "type": "date"},
    {"name": "seen_at", "type": "datetime"},
    {"name": "ours", "type": "boolean"},
    {"name": "tags", "type": "multi_select", "options": ["gift", "trade"]},
    {"name": "page", "type": "url"},
    {"name": "extra", "type": "json"},
    {"name": "photo", "type": "file"},
]


def returned(number: int) -> dict[str, Any]:
    return {
        "order": f"A{number:03}",
        "customer": f"c{number}@example.com",
        "state": COLUMNS[2]["options"][number % 3],
        "amount": number * 1.5,
        "pieces": number,
        "came_in": "2026-03-14",
        "seen_at": "2026-03-14T09:30:00Z",
        "ours": number % 2 == 0,
        "tags": ["gift"],
        "page": "https://shop.example/returns",
        "extra": {"n": number},
    }


async def new_table(site: Any, name: str, count: int = 3) -> str:
    columns = COLUMNS
    if not await _is_there(site, "Lamps"):
        await site.call(
            "POST", TABLES, {"name": "Lamps", "slug": "lamps", "columns": [{"name": "name", "type": "text"}]}
        )
    target = (await site.call("GET", f"{TABLES}?search=Lamps"))["data"][0]["id"]
    columns = [*COLUMNS, {"name": "lamp", "type": "reference", "table_id": target}]
    table = (await site.call("POST", TABLES, {"name": name, "columns": columns}))["data"]
    if count:
        rows = [returned(number) for number in range(count)]
        await site.call("POST", f"{TABLES}/{table['id']}/rows", {"rows": rows})
    return table["id"]


async def _is_there(site: Any, name: str) -> bool:
    return bool((await site.call("GET", f"{TABLES}?search={name}"))["data"])


async def open_grid(site: Any, page: Any, table_id: str, query: str = "") -> Any:
    await open_page(site, page, f"/tables/{table_id}{query}")
    grid = page.get_by_role("grid")
    await grid.get_by_role("gridcell").first.wait_for()
    return grid


async def rows_of(site: Any, table_id: str, sort: str = "order") -> list[dict[str, Any]]:
    return (await site.call("GET", f"{TABLES}/{table_id}/rows?sort={sort}"))["data"]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_grid_shows_every_type_and_says_where_it_stands(site, page, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    id = await new_table(site, f"Shown {scheme} {width}", 120)
    grid = await open_grid(site, page, id, "?sort=order")
    await expect(grid).to_have_attribute("aria-rowcount", "122")
    first = grid.get_by_role("row").nth(1)
    await expect(first).to_have_attribute("aria-rowindex", "2")
    await expect(first).to_contain_text("A000")
    await expect(first).to_contain_text("c0@example.com")
    await expect(grid.get_by_role("row").last).to_contain_text("10,710")
    await page.mouse.move(0, 0)
    assert await axe(page) == []


@pytest.mark.journey
async def test_cells_are_written_by_keys_and_a_refused_value_stays(site, page):
    id = await new_table(site, "Keyed")
    grid = await open_grid(site, page, id, "?sort=order")
    await grid.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    field = page.get_by_label("customer of row 1")
    await expect(field).to_have_value("c0@example.com")
    await field.fill("nobody")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").filter(has_text="Esc keeps the old value")).to_be_visible()
    await expect(field).to_have_value("nobody")
    assert await axe(page) == []
    await field.fill("new@example.com")
    await page.keyboard.press("Tab")
    await expect(grid.get_by_text("new@example.com")).to_be_visible()
    await expect(grid).to_have_attribute("aria-activedescendant", "cell-0-2")
    assert (await rows_of(site, id))[0]["customer"] == "new@example.com"
    await page.keyboard.press("Control+z")
    await expect(grid.get_by_text("c0@example.com")).to_be_visible()


async def test_space_ticks_and_escape_leaves_the_old_value(site, page):
    id = await new_table(site, "Ticked")
    grid = await open_grid(site, page, id, "?sort=order")
    await grid.focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("order of row 1").fill("other")
    await page.keyboard.press("Escape")
    await expect(grid.get_by_text("A000")).to_be_visible()
    for _ in range(7):
        await page.keyboard.press("ArrowRight")
    async with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        await page.keyboard.press(" ")
    first = (await rows_of(site, id))[0]
    assert (first["order"], first["ours"]) == ("A000", False)


async def paste(page: Any, text: str) -> None:
    await page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData("text/plain", text);
          document.querySelector("[role=grid]").dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        text,
    )


async def test_of_a_long_paste_that_is_refused_in_its_second_part_the_first_is_taken_back_by_undo(site, page):
    id = await new_table(site, "Long", 102)
    grid = await open_grid(site, page, id, "?sort=order")
    await grid.focus()
    for _ in range(3):
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Control+End")
    await page.get_by_role("gridcell", name="A101").wait_for()
    await page.keyboard.press("Control+Home")
    for _ in range(3):
        await page.keyboard.press("ArrowRight")
    await page.get_by_role("gridcell", name="A000").wait_for()
    await paste(page, "7\n" * 101 + "none\n")
    await expect(page.get_by_text("Only the first 100 rows were changed. amount in line 102")).to_be_visible()
    changed = (await site.call("GET", f"{TABLES}/{id}/rows?sort=order&per_page=100"))["data"]
    assert {row["amount"] for row in changed} == {7}
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("Put back as it was.")).to_be_visible()
    put_back = (await site.call("GET", f"{TABLES}/{id}/rows?sort=order&per_page=100"))["data"]
    assert [row["amount"] for row in put_back[:3]] == [0, 1.5, 3]


async def test_pasted_cells_are_one_request_and_one_undo(site, page):
    id = await new_table(site, "Pasted")
    grid = await open_grid(site, page, id, "?sort=order")
    await grid.focus()
    for _ in range(3):
        await page.keyboard.press("ArrowRight")
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.method) if one.method == "PATCH" else None)
    await paste(page, "10\t1\n20\t2\n30\t3\n40\t4\n")
    await expect(page.get_by_text("Pasted into 3 rows. One line was left out")).to_be_visible()
    assert sent == ["PATCH"]
    assert [(row["amount"], row["pieces"]) for row in await rows_of(site, id)] == [(10, 1), (20, 2), (30, 3)]
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("Put back as it was.")).to_be_visible()
    assert [row["amount"] for row in await rows_of(site, id)] == [0, 1.5, 3]


async def test_chosen_rows_are_deleted_and_put_back(site, page):
    id = await new_table(site, "Emptied")
    grid = await open_grid(site, page, id, "?sort=order")
    await grid.focus()
    await page.keyboard.press("Shift+ ")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Shift+ ")
    await page.get_by_role("button", name="Delete 2 rows").click()
    await expect(page.get_by_text("2 rows deleted.")).to_be_visible()
    await expect(grid).to_have_attribute("aria-rowcount", "3")
    await page.get_by_role("button", name="Undo").click()
    await expect(grid).to_have_attribute("aria-rowcount", "5")
    assert [row["order"] for row in await rows_of(site, id)] == ["A000", "A001", "A002"]


async def test_filters_read_as_a_sentence_and_can_be_taken_away(site, page):
    id = await new_table(site, "Filtered")
    grid = await open_grid(site, page, id)
    await page.get_by_role("button", name="Filter", exact=True).click()
    await page.get_by_role("combobox", name="Column", exact=True).click()
    await page.get_by_role("option", name="amount").click()
    await page.get_by_label("Value").fill("1")
    assert await axe(page) == []
    await page.get_by_role("button", name="Add filter").click()
    await expect(grid).to_have_attribute("aria-rowcount", "4")
    await expect(page.get_by_text("amount" + "above 1")).to_be_visible()
    await expect(page.get_by_text("2 of 3 match")).to_be_visible()
    await page.get_by_role("button", name="Remove the filter").first.click()
    await expect(grid).to_have_attribute("aria-rowcount", "5")


async def test_a_column_is_tried_with_all_rows_before_it_changes(site, page):
    id = await new_table(site, "Retyped")
    grid = await open_grid(site, page, id)
    await grid.get_by_role("columnheader", name="order").get_by_role("button").click()
    assert await axe(page) == []
    await page.get_by_role("menuitem", name="Rename and change…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("combobox", name="Type").click()
    await page.get_by_role("option", name="whole number").click()
    await expect(dialog.get_by_text("3 values do not fit the new type:")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Save column")).to_be_disabled()
    await dialog.get_by_role("combobox", name="Type").click()
    await page.get_by_role("option", name="text", exact=True).click()
    await dialog.get_by_label("Name").fill("number")
    await dialog.get_by_role("button", name="Save column").click()
    await expect(grid.get_by_role("columnheader", name="number")).to_be_visible()


async def test_a_table_is_made_and_filled_from_nothing(site, page):
    await open_page(site, page, "/tables?create=true")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("From nothing")
    await dialog.get_by_role("button", name="Create table").click()
    await expect(page.get_by_text("No rows yet")).to_be_visible()
    await page.get_by_role("button", name="Column", exact=True).click()
    await page.get_by_role("dialog").get_by_label("Name").fill("age")
    await page.get_by_role("dialog").get_by_role("combobox", name="Type").click()
    await page.get_by_role("option", name="whole number").click()
    await page.get_by_role("dialog").get_by_role("button", name="Add column").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("button", name="Row", exact=True).click()
    await expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "3")
    await expect(page.get_by_role("columnheader", name="age")).to_be_visible()


CSV = b"""Order No.,Mail,amount,Clerk
B1,b1@example.com,10,IN
B2,b2(at)example.com,20,TB
B3,b3@example.com,many,IN
B4,b4@example.com,40,IN
"""


@pytest.mark.journey
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_file_is_checked_before_it_goes_in(site, page, scheme, width):
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    id = await new_table(site, f"Imported {scheme} {width}", 0)
    await open_page(site, page, f"/tables/{id}/import")
    assert await axe(page) == []
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose a file").click()
    await (await chooser.value).set_files({"name": "returns.csv", "mimeType": "text/csv", "buffer": CSV})
    await expect(page.get_by_text("2 rows cannot be taken")).to_be_visible()
    await expect(page.get_by_role("combobox", name="Column for Mail")).to_have_value("customer")
    await expect(page.get_by_role("row").filter(has_text="customer").filter(has_text="3")).not_to_have_count(
        0
    )
    assert (await rows_of(site, id)) == []
    assert await axe(page) == []
    await page.get_by_role("button", name="Import 2 rows").click()
    await expect(page.get_by_text("returns.csv is in the table")).to_be_visible()
    assert [row["order"] for row in await rows_of(site, id)] == ["B1", "B4"]
    await page.get_by_role("link", name="Show the rows").click()
    await expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "4")


async def test_what_was_imported_and_what_uses_a_table_are_listed(site, page):
    id = await new_table(site, "Listed", 1)
    body = {"name": "Refers", "columns": [{"name": "back", "type": "reference", "table_id": id}]}
    await site.call("POST", TABLES, body)
    await open_page(site, page, f"/tables/{id}/uses")
    await expect(page.get_by_text("Refers.back")).to_be_visible()
    assert await axe(page) == []
    await page.get_by_role("link", name="Imports").click()
    await expect(page.get_by_text("No imports yet")).to_be_visible()
    await page.goto(f"{site.url}/console/tables?search=Listed")
    await expect(page.get_by_role("row").filter(has_text="Listed")).to_be_visible()
    assert await axe(page) == []
    await page.get_by_role("link", name=re.compile("Listed")).click()
    await page.get_by_role("grid").wait_for()
