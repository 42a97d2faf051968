"""Rows: filters, sorting, counting, upserts, and two who write at once."""

import asyncio
import json
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.tables import aggregates, table_scan
from tests.tables.tables import BASE, Tables, happenings

ADA, BOB, CY, DI = (
    {"name": "Ada", "email": "ada@example.com", "age": 36, "balance": 10.5, "plan": "pro", "tags": ["a"]},
    {"name": "Bob", "email": "bob@example.com", "age": 20, "balance": -3, "plan": "free", "active": False},
    {"name": "Cy_%", "age": 20, "plan": "free", "tags": ['x"a', "b"], "born": "2000-01-01"},
    {"name": "Di"},
)
FILTERS: list[tuple[Any, list[str]]] = [
    ({}, ["Ada", "Bob", "Cy_%", "Di"]),
    ({"name": "Ada"}, ["Ada"]),
    ({"data.name": "Ada"}, ["Ada"]),
    ({"name": ["Ada", "Di", "x"]}, ["Ada", "Di"]),
    ({"age": [36, None]}, ["Ada", "Di"]),
    ({"name": []}, []),
    ({"age": 20}, ["Bob", "Cy_%"]),
    ({"age": {"gt": 20}}, ["Ada"]),
    ({"age": {"gte": 20, "lt": 36}}, ["Bob", "Cy_%"]),
    ({"age": {"ne": 20}}, ["Ada", "Di"]),
    ({"age": None}, ["Di"]),
    ({"age": {"ne": None}}, ["Ada", "Bob", "Cy_%"]),
    ({"balance": {"lte": 10.5}}, ["Ada", "Bob"]),
    ({"balance": {"exists": False}}, ["Cy_%", "Di"]),
    ({"plan": "free", "age": {"exists": True}}, ["Bob", "Cy_%"]),
    ({"plan": "none"}, []),
    ({"active": False}, ["Bob"]),
    ({"active": {"ne": False}}, ["Ada", "Cy_%", "Di"]),
    ({"tags": {"contains": "a"}}, ["Ada"]),
    ({"tags": {"contains": 'x"a'}}, ["Cy_%"]),
    ({"tags": {"contains": "b"}}, ["Cy_%"]),
    ({"name": {"contains": "D"}}, ["Ada", "Di"]),
    ({"name": {"contains": "_%"}}, ["Cy_%"]),
    ({"born": {"lt": "2001-01-01"}}, ["Cy_%"]),
    ({"created_at": {"gt": "2000-01-01T00:00:00Z"}}, ["Ada", "Bob", "Cy_%", "Di"]),
    ({"or": [{"name": "Ada"}, {"age": 20, "plan": "free"}]}, ["Ada", "Bob", "Cy_%"]),
    ({"and": [{"age": 20}, {"or": [{"name": "Bob"}, {"name": "Di"}]}]}, ["Bob"]),
    ({"or": [{"plan": "pro"}, {}], "age": 20}, ["Bob", "Cy_%"]),
]
BAD_FILTERS: list[tuple[Any, str]] = [
    ("{", "filter"),
    ([], "filter"),
    ({"nobody": 1}, "filter.nobody"),
    ({"age": {"like": 1}}, "filter.age.like"),
    ({"age": {"in": [1]}}, "filter.age.in"),
    ({"age": {}}, "filter.age"),
    ({"age": "old"}, "filter.age"),
    ({"age": {"gt": None}}, "filter.age.gt"),
    ({"age": {"contains": "1"}}, "filter.age.contains"),
    ({"tags": "a"}, "filter.tags"),
    ({"born": {"lt": "soon"}}, "filter.born.lt"),
    ({"or": {}}, "filter.or"),
    ({"or": []}, "filter.or"),
    ({"created_at": "soon"}, "filter.created_at"),
    ({"created_at": {"contains": "a"}}, "filter.created_at.contains"),
    (
        {"or": [{"or": [{"or": [{"or": [{"or": [{"or": [{"age": 1}]}]}]}]}]}]},
        "filter.or.0.or.0.or.0.or.0.or.0.or.0",
    ),
]


@pytest.fixture(params=(table_scan.PART_ROWS, 3))
def _part(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read as a whole, or as large ones are, in parts."""
    monkeypatch.setattr(table_scan, "PART_ROWS", request.param)


@pytest.mark.usefixtures("_part")
async def test_filters_search_sort_and_pages_find_what_they_say(tables: Tables) -> None:
    person = tables.person
    table = await tables.make()
    await tables.add(table, ADA, BOB, CY, DI)
    path = f"{BASE}/{table['id']}/rows"
    wrong = []
    for filter, expected in FILTERS:
        if await tables.names(table, filter=filter) != expected:
            wrong.append((filter, await tables.names(table, filter=filter)))
    for filter, place in BAD_FILTERS:
        text = filter if isinstance(filter, str) else json.dumps(filter)
        answer = await person.get(path, query={"filter": text})
        if answer.status != 422 or list(answer.details) != [place]:
            wrong.append((filter, answer))
    for query, expected in (
        ({"where[age]": "20"}, ["Bob", "Cy_%"]),
        ({"where[age]": "20", "where[name]": "Bob"}, ["Bob"]),
        ({"where[active]": "no"}, ["Bob"]),
        ({"where[born]": ""}, ["Ada", "Bob", "Di"]),
        ({"search": "EXAMPLE.com"}, ["Ada", "Bob"]),
        ({"search": "%"}, ["Cy_%"]),
        ({"sort": "name"}, ["Ada", "Bob", "Cy_%", "Di"]),
        ({"sort": "-name"}, ["Di", "Cy_%", "Bob", "Ada"]),
        ({"sort": "age"}, ["Bob", "Cy_%", "Ada", "Di"]),
        ({"sort": "-age"}, ["Ada", "Cy_%", "Bob", "Di"]),
        ({"sort": "balance"}, ["Bob", "Ada", "Cy_%", "Di"]),
        ({"sort": "-balance"}, ["Ada", "Bob", "Di", "Cy_%"]),
        ({"sort": "-created_at"}, ["Di", "Cy_%", "Bob", "Ada"]),
        ({"sort": "age", "per_page": 2, "page": 2}, ["Ada", "Di"]),
        ({"sort": "age", "per_page": 3, "page": 2}, ["Di"]),
        ({"sort": "age", "per_page": 1, "page": 4}, ["Di"]),
        ({"sort": "age", "per_page": 1, "page": 5}, []),
        ({"sort": "-age", "filter": '{"plan": "free"}'}, ["Cy_%", "Bob"]),
        ({"per_page": 3, "sort": "created_at", "page": 2}, ["Di"]),
    ):
        if (got := await tables.names(table, **query)) != expected:
            wrong.append((query, got))
    for query, place in (
        ({"sort": "tags"}, "sort"),
        ({"sort": "nobody"}, "sort"),
        ({"fields": "name,nobody"}, "fields"),
        ({"where[age]": "old"}, "where[age]"),
        ({"where[nobody]": "1"}, "where[nobody]"),
        ({"page": "0"}, "page"),
    ):
        answer = await person.get(path, query=query)
        if answer.status != 422 or list(answer.details) != [place]:
            wrong.append((query, answer))
    assert not wrong
    page = await tables.page(table, filter={"age": 20}, per_page=5000, fields="name,age")
    assert page["data"][0].keys() == {"id", "name", "age"}
    assert page["pagination"] == {
        "page": 1,
        "per_page": 1000,
        "total": 2,
        "total_pages": 1,
        "total_is_exact": True,
    }
    await _aggregates(tables, table)


async def _aggregates(tables: Tables, table: dict[str, Any]) -> None:
    path = f"{BASE}/{table['id']}/aggregate"
    wrong = []
    for query, expected in (
        ({}, [{"count": 4}]),
        ({"metrics": "count,sum:balance,avg:age,min:name,max:age,distinct:plan,count:email"},
         [{"count": 4, "sum:balance": 7.5, "avg:age": 76 / 3, "min:name": "Ada", "max:age": 36,
           "distinct:plan": 2, "count:email": 2}]),
        ({"group_by": "plan", "metrics": "count,sum:age"},
         [{"group": {"plan": "free"}, "count": 2, "sum:age": 40},
          {"group": {"plan": "pro"}, "count": 1, "sum:age": 36},
          {"group": {"plan": None}, "count": 1, "sum:age": None}]),
        ({"group_by": "active,age", "filter": '{"age": {"exists": true}}'},
         [{"group": {"active": False, "age": 20}, "count": 1},
          {"group": {"active": True, "age": 20}, "count": 1},
          {"group": {"active": True, "age": 36}, "count": 1}]),
        ({"metrics": "count", "where[plan]": "free"}, [{"count": 2}]),
    ):  # fmt: skip
        answer = await tables.person.get(path, query=query)
        if answer.status != 200 or answer.json()["data"] != expected:
            wrong.append((query, answer))
    for query in (
        {"metrics": "sum:name"},
        {"metrics": "median:age"},
        {"metrics": "sum"},
        {"metrics": "max:tags"},
        {"group_by": "tags"},
        {"group_by": "nobody"},
    ):
        answer = await tables.person.get(path, query=query)
        if answer.status != 422:
            wrong.append((query, answer))
    assert not wrong


async def test_no_two_rows_share_a_unique_value(tables: Tables) -> None:
    person = tables.person
    table = await tables.make()
    path = f"{BASE}/{table['id']}/rows"
    await tables.add(table, ADA)
    taken = await person.post(path, {"name": "Eve", "email": ADA["email"]})
    assert (taken.status, taken.code, taken.details) == (409, "value_taken", {"column": "email"})
    taken = await person.post(path, {"rows": [BOB, {**CY, "email": BOB["email"]}]})
    assert (taken.status, taken.details) == (409, {"column": "rows.1.email"})
    (bob,) = await tables.add(table, BOB)
    taken = await person.patch(f"{path}/{bob['id']}", {"email": ADA["email"]})
    assert (taken.status, taken.code) == (409, "value_taken")
    answers = await asyncio.gather(
        *(person.post(path, {"name": f"R{n}", "email": "race@example.com"}) for n in range(8))
    )
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7
    assert (await tables.table(table))["row_count"] == 3 == len(await tables.names(table))


async def test_writers_at_once_lose_no_change_and_no_count(tables: Tables) -> None:
    person = tables.person
    table = await tables.make()
    (row,) = await tables.add(table, ADA)
    path = f"{BASE}/{table['id']}/rows"
    once = {"If-Match": row["updated_at"]}
    answers = await asyncio.gather(
        *(person.patch(f"{path}/{row['id']}", {"age": n}, headers=once) for n in range(5)),
        *(person.post(path, {"name": f"N{n}"}) for n in range(5)),
        *(
            person.post(f"{path}/upsert", {"match": ["name"], "rows": [{"name": "Same", "age": n}]})
            for n in range(5)
        ),
    )
    assert sorted(answer.status for answer in answers[:5]) == [200, 412, 412, 412, 412]
    assert [answer.status for answer in answers[5:]] == [201] * 5 + [200] * 5
    assert (await tables.names(table)).count("Same") == 1
    assert (await tables.table(table))["row_count"] == 7 == len(await tables.names(table))


async def test_an_upsert_changes_what_matches_and_adds_the_rest(tables: Tables) -> None:
    person = tables.person
    table = await tables.make()
    ada, _ = await tables.add(table, ADA, BOB)
    path = f"{BASE}/{table['id']}/rows/upsert"
    rows = [
        {"email": ADA["email"], "age": 40},
        {"email": "new@example.com", "name": "New"},
        {"email": "new@example.com", "age": 5},
    ]
    body = {"match": ["email"], "rows": rows}
    dry = (await person.post(path, {**body, "dry_run": True})).json()["data"]
    assert [one["action"] for one in dry] == ["updated", "created", "updated"]
    assert dry[:2] == [{"id": ada["id"], "action": "updated"}, {"id": None, "action": "created"}]
    assert await tables.names(table) == ["Ada", "Bob"]
    done = (await person.post(path, body)).json()["data"]
    assert done[1]["id"] == done[2]["id"]
    found = (await tables.page(table, sort="created_at"))["data"]
    assert [(row["name"], row["age"]) for row in found] == [("Ada", 40), ("Bob", 20), ("New", 5)]
    again = (
        await person.post(path, {"match": ["plan", "age"], "rows": [{"plan": "free", "age": 20}]})
    ).json()
    assert again["data"] == [{"id": found[1]["id"], "action": "updated"}]
    for match, rows, place in (
        (["nobody"], [{}], "match"),
        (["tags"], [{}], "match"),
        (["email"], [{"name": "x"}], "rows.0.email"),
        (["email"], [{"email": "x"}], "rows.0.email"),
        (["email"], [{"email": "z@example.com"}], "rows.0.name"),
        (["name"], [{"name": "Bob", "age": "x"}], "rows.0.age"),
    ):
        answer = await person.post(path, {"match": match, "rows": rows})
        assert (answer.status, list(answer.details)) == (422, [place]), answer
    await tables.add(table, {"name": "Bob"})
    answer = await person.post(path, {"match": ["name"], "rows": [{"name": "Bob"}]})
    assert answer.details == {"rows.0.match": "more than one row matches"}


@pytest.mark.usefixtures("_part")
async def test_rows_are_deleted_by_a_filter_that_says_something(tables: Tables) -> None:
    person = tables.person
    table = await tables.make()
    await tables.add(table, ADA, BOB, CY, DI)
    path = f"{BASE}/{table['id']}/rows/delete"
    for filter in ({}, {"and": [{}]}, {"or": [{"age": 20}, {}]}):
        answer = await person.post(path, {"filter": filter})
        assert (answer.status, list(answer.details)) == (422, ["filter"])
    assert (await person.post(path, {})).status == 422
    dry = (await person.post(path, {"filter": {"age": 20}, "dry_run": True})).json()["data"]
    assert dry == {"matched": 2, "deleted": 0, "deletion_id": None}
    done = (await person.post(path, {"filter": {"age": 20}})).json()["data"]
    assert (done["matched"], done["deleted"]) == (2, 2)
    assert await tables.names(table) == ["Ada", "Di"]
    assert (await tables.table(table))["row_count"] == 2
    told = [one["type"] for one in await happenings(tables)]
    assert told.count("data_table.row.deleted") == 2


async def test_a_question_about_a_large_table_ends(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    table = await tables.make()
    await tables.add(table, *({"name": f"N{n}", "balance": n % 3} for n in range(20)))
    monkeypatch.setattr(table_scan, "PART_ROWS", 3)
    path = f"{BASE}/{table['id']}"

    async def seen(**query: Any) -> tuple[list[str], int, bool]:
        page = await tables.page(table, filter={"balance": 1}, per_page=2, **query)
        told = page["pagination"]
        return [row["name"] for row in page["data"]], told["total"], told["total_is_exact"]

    assert await seen() == (["N19", "N16"], 7, True)
    assert await seen(page=3, sort="created_at") == (["N13", "N16"], 7, True)
    assert await seen(page=9) == ([], 7, True)
    assert (await seen(sort="name"))[1:] == (7, True)
    in_parts = tables.service.instance.database.dialect == "sqlite"
    monkeypatch.setattr(table_scan, "COUNT_BUDGET_SECONDS", -1)
    names, total, is_exact = await seen()
    if in_parts:
        assert (names, 2 <= total < 7, is_exact) == (["N19", "N16"], True, False), "counting need not go on"
    assert (await seen(page=3))[0] == ["N7", "N4"], "what is shown is found however long that takes"
    grouped = {"group_by": "name", "metrics": "count,avg:balance"}
    found = [(await tables.person.get(f"{path}/aggregate", query=grouped)).json()["data"]]
    monkeypatch.setattr(aggregates, "_MAX_MERGED_GROUPS", 5)
    found.append((await tables.person.get(f"{path}/aggregate", query=grouped)).json()["data"])
    assert found[0] == found[1], "groups that are too many to be put together here"
    assert (len(found[0]), found[0][1]["avg:balance"]) == (20, 1)
    monkeypatch.setattr(table_scan, "MAX_SCAN_SECONDS", -1)
    if not in_parts:
        return
    for answer in (
        await tables.person.get(f"{path}/rows", query={"search": "N1"}),
        await tables.person.get(f"{path}/aggregate"),
        await tables.person.post(f"{path}/rows/delete", {"filter": {"balance": 1}}),
    ):
        assert (answer.status, answer.code) == (422, "query_too_expensive")


async def test_who_may_read_may_not_write(tables: Tables, people: Any) -> None:
    table = await tables.make()
    (row,) = await tables.add(table, ADA)
    viewer = await people.signed_in(Role.viewer)
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    path = f"{BASE}/{table['id']}/rows"
    assert [one["id"] for one in (await viewer.get(path)).json()["data"]] == [row["id"]]
    for answer in (
        await viewer.post(path, ADA),
        await viewer.patch(f"{path}/{row['id']}", {"age": 1}),
        await viewer.delete(f"{path}/{row['id']}"),
        await viewer.post(f"{path}/delete", {"filter": {"age": 36}}),
    ):
        assert answer.status == 403
        assert answer.details == {"required": "data_tables:write", "your_role": "viewer"}
    for answer in (
        await stranger.get(path),
        await stranger.post(path, ADA),
        await stranger.get(f"{path}/{row['id']}"),
        await stranger.get(f"{BASE}/{table['id']}/export"),
    ):
        assert (answer.status, answer.code) == (404, "table_not_found")
    column = {"name": "r", "type": "reference", "table_id": table["id"]}
    refused = await stranger.post(BASE, {"name": "Spy", "columns": [column]})
    assert (refused.status, refused.details) == (422, {"columns.0.table_id": "there is no such table"})
