"""Pages that begin at a row: every order, with equal values and without values, forwards and backwards."""

from typing import Any

import pytest

from retinue.tables import table_scan
from tests.tables.tables import BASE, Tables

ROWS = [
    {"name": "Ada", "age": 36, "balance": 1.5, "plan": "pro", "active": True, "born": "1999-01-01"},
    {"name": "Bob", "age": 20, "balance": -3, "plan": "free", "active": False},
    {"name": "Cy", "age": 20, "balance": 1.5, "plan": "free"},
    {"name": "Di", "plan": "free", "born": "1999-01-01"},
    {"name": "Ed", "age": 20, "balance": 1.5, "active": False},
    {"name": "Fay"},
    {"name": "Gus", "age": 36, "plan": "pro", "born": "2001-05-05"},
]
SORTS = ("id", "created_at", "updated_at", "name", "age", "balance", "plan", "active", "born", "email")
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"plan": "free"},
    {"name": {"contains": "d"}},
    {"or": [{"age": 20}, {"plan": "pro"}]},
)


@pytest.fixture(params=(table_scan.PART_ROWS, 3))
def _part(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read as a whole, or as large ones are, in parts."""
    monkeypatch.setattr(table_scan, "PART_ROWS", request.param)


async def _walk(tables: Tables, table: dict[str, Any], side: str, **query: Any) -> list[str]:
    """Return all ids, read two by two beside the last one that was read."""
    first = (await tables.page(table, **query, per_page=500))["data"]
    ids = [first[0]["id"]] if side == "after" else [first[-1]["id"]]
    while True:
        edge = ids[-1] if side == "after" else ids[0]
        page = await tables.page(table, **query, per_page=2, **{side: edge})
        assert page["pagination"]["total"] == len(first)
        found = [row["id"] for row in page["data"]]
        if not found:
            return ids
        ids = [*ids, *found] if side == "after" else [*found, *ids]


@pytest.mark.every_case
@pytest.mark.usefixtures("_part")
@pytest.mark.parametrize("side", ["after", "before"])
async def test_a_walk_from_row_to_row_meets_every_row_once_in_order(tables: Tables, side: str) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    wrong = []
    for sort in (prefix + name for name in SORTS for prefix in ("", "-")):
        for filter in FILTERS:
            whole = [row["id"] for row in (await tables.page(table, sort=sort, filter=filter))["data"]]
            walked = await _walk(tables, table, side, sort=sort, filter=filter)
            if walked != whole:
                wrong.append((sort, filter, whole, walked))
    assert wrong == []


async def test_rows_added_and_deleted_before_the_place_do_not_move_it(tables: Tables) -> None:
    table = await tables.make()
    added = await tables.add(table, *ROWS)
    page = await tables.page(table, sort="-created_at", per_page=3)
    await tables.add(table, {"name": "New"})
    await tables.person.delete(f"{BASE}/{table['id']}/rows/{added[-1]['id']}")
    edge = page["data"][-1]["id"]
    assert await tables.names(table, sort="-created_at", per_page=2, after=edge) == ["Di", "Cy"]


async def test_the_row_of_a_place_need_not_match_the_filter(tables: Tables) -> None:
    table = await tables.make()
    added = await tables.add(table, *ROWS)
    found = await tables.names(table, sort="name", filter={"plan": "pro"}, after=added[1]["id"])
    assert found == ["Gus"]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"after": "row_unknown"}, 404, "row_not_found"),
        ({"before": "row_unknown"}, 404, "row_not_found"),
        ({"after": ""}, 404, "row_not_found"),
        ({"after": "x", "before": "y"}, 422, "before"),
        ({"after": "x", "page": "2"}, 422, "page"),
        ({"after": "x" * 65}, 422, "after"),
    ],
)
async def test_a_place_that_there_is_not_is_refused(
    tables: Tables, query: dict[str, str], status: int, said: str
) -> None:
    table = await tables.make()
    answer = await tables.person.get(f"{BASE}/{table['id']}/rows", query=query)
    assert (answer.status, said in (answer.code, *(answer.details or {}))) == (status, True)


async def test_a_row_of_another_table_is_no_place(tables: Tables) -> None:
    table, other = await tables.make(), await tables.make()
    (row,) = await tables.add(other, ROWS[0])
    answer = await tables.person.get(f"{BASE}/{table['id']}/rows", query={"after": row["id"]})
    assert (answer.status, answer.code) == (404, "row_not_found")
