"""Several rows changed by one request, and changes of columns that are only tried."""

from typing import Any

import pytest

from tests.tables.tables import BASE, Tables, happenings

ROWS = [
    {"name": "Ada", "email": "ada@example.com", "age": 36, "plan": "pro"},
    {"name": "Bob", "email": "bob@example.com", "age": 20, "plan": "free"},
    {"name": "Cy", "age": 20},
]


async def _change(tables: Tables, table: dict[str, Any], *rows: Any) -> Any:
    return await tables.person.patch(f"{BASE}/{table['id']}/rows", {"rows": list(rows)})


async def test_cells_of_several_rows_change_in_one_request(tables: Tables) -> None:
    table = await tables.make()
    ada, bob, cy = await tables.add(table, *ROWS)
    answer = await _change(
        tables, table, {"id": cy["id"], "age": 21, "plan": "pro"}, {"id": ada["id"], "age": None}, bob
    )
    changed = answer.json()["data"]
    assert [row["name"] for row in changed] == ["Cy", "Ada", "Bob"]
    assert [(row["age"], row["plan"]) for row in changed] == [(21, "pro"), (None, "pro"), (20, "free")]
    assert (await tables.page(table, sort="created_at"))["data"] == [changed[1], bob, changed[0]]
    told = [one["data"] for one in await happenings(tables) if one["type"] == "data_table.row.updated"]
    assert [(one["row_id"], one["changes"]) for one in told] == [
        (cy["id"], ["age", "plan"]),
        (ada["id"], ["age"]),
    ]


async def test_one_wrong_value_changes_nothing(tables: Tables) -> None:
    table = await tables.make()
    ada, bob, cy = await tables.add(table, *ROWS)
    wrong = await _change(
        tables,
        table,
        {"id": ada["id"], "age": 1},
        {"id": bob["id"], "age": "old", "nobody": 1},
        {"id": cy["id"], "name": None},
    )
    assert (wrong.status, wrong.details) == (
        422,
        {
            "rows.1.age": "must be a number",
            "rows.1.nobody": "the table has no such column",
            "rows.2.name": "is required",
        },
    )
    taken = await _change(
        tables, table, {"id": ada["id"], "age": 1}, {"id": cy["id"], "email": "bob@example.com"}
    )
    assert (taken.status, taken.code, taken.details) == (409, "value_taken", {"column": "rows.1.email"})
    assert (await tables.page(table, sort="created_at"))["data"] == [ada, bob, cy]


async def test_a_row_that_there_is_not_changes_nothing(tables: Tables) -> None:
    table = await tables.make()
    (ada,) = await tables.add(table, ROWS[0])
    answer = await _change(tables, table, {"id": ada["id"], "age": 1}, {"id": "row_gone", "age": 2})
    assert (answer.status, answer.code, answer.details) == (404, "row_not_found", {"row_ids": ["row_gone"]})
    assert (await tables.page(table))["data"] == [ada]


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([], "rows"),
        ([{"age": 1}], "rows.0.id"),
        ([{"id": 7}], "rows.0.id"),
        ([{"id": "row_a"}, {"id": "row_a"}], "rows.1.id"),
        ([{"id": "row_a"}] * 101, "rows"),
        (["row_a"], "rows.0"),
    ],
)
async def test_rows_that_are_not_named_are_refused(tables: Tables, rows: list[Any], place: str) -> None:
    table = await tables.make()
    answer = await _change(tables, table, *rows)
    assert (answer.status, list(answer.details)) == (422, [place])


async def _try(tables: Tables, table: dict[str, Any], name: str, change: dict[str, Any]) -> Any:
    column = next(one for one in table["columns"] if one["name"] == name)
    path = f"{BASE}/{table['id']}/columns/{column['id']}"
    return await tables.person.patch(path, change, query={"dry_run": "true"})


async def test_a_tried_change_of_a_column_says_what_fails_and_stores_nothing(tables: Tables) -> None:
    table = await tables.make()
    ada, *_ = await tables.add(table, *ROWS)
    refused = await _try(tables, table, "name", {"type": "integer"})
    assert (refused.status, refused.code, refused.details["count"]) == (409, "cannot_convert", 3)
    assert refused.details["rows"][0] == {
        "row_id": ada["id"],
        "value": "Ada",
        "message": "must be a number",
    }
    shared = await _try(tables, table, "age", {"unique": True})
    assert (shared.status, shared.code) == (409, "value_taken")
    fits = await _try(tables, table, "age", {"type": "text", "name": "years"})
    assert (fits.status, fits.json()["data"]["type"]) == (200, "text")
    assert await tables.table(table) == {**table, "row_count": 3}
    assert (await tables.page(table, filter={"name": "Ada"}))["data"] == [ada]
