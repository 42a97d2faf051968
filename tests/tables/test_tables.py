"""Tables and their columns: what they are made of, how they change, and what refuses to."""

from typing import Any

from tests.tables.tables import BASE, CUSTOMERS, Tables, happenings


async def test_a_new_table_has_the_columns_it_was_given_in_their_order(tables: Tables) -> None:
    table = await tables.make(description="Who buys")
    assert table["id"].startswith("tbl_")
    assert (table["slug"], table["row_count"], table["description"]) == ("customers", 0, "Who buys")
    assert [(c["name"], c["position"]) for c in table["columns"]] == [
        (column["name"], number) for number, column in enumerate(CUSTOMERS)
    ]
    assert table["columns"][0].keys() == {
        *("id", "name", "type", "required", "unique", "indexed", "default", "options", "table_id", "position")
    }


async def test_two_tables_never_have_the_same_slug(tables: Tables) -> None:
    person = tables.person
    await tables.make()
    second = await tables.make()
    assert second["slug"] == "customers-2"
    taken = await person.post(BASE, {"name": "X", "slug": "customers"})
    assert (taken.status, taken.code) == (409, "slug_taken")
    taken = await person.put(f"{BASE}/{second['id']}", {"slug": "customers"})
    assert (taken.status, taken.code) == (409, "slug_taken")


async def test_tables_are_renamed_and_listed(tables: Tables) -> None:
    person = tables.person
    await tables.make()
    second = await tables.make()
    changed = await person.put(f"{BASE}/{second['id']}", {"name": "Leads", "slug": "leads"})
    assert (changed.json()["data"]["name"], changed.json()["data"]["slug"]) == ("Leads", "leads")
    listed = (await person.get(BASE, query={"sort": "name", "search": "e"})).json()
    assert [one["name"] for one in listed["data"]] == ["Customers", "Leads"]
    assert listed["pagination"]["total"] == 2


async def test_a_deleted_table_is_gone_with_its_rows(tables: Tables) -> None:
    person = tables.person
    await tables.make()
    second = await tables.make()
    await tables.add(second, {"name": "Ada"})
    assert (await person.delete(f"{BASE}/{second['id']}")).status == 204
    gone = await person.get(f"{BASE}/{second['id']}/rows")
    assert (gone.status, gone.code) == (404, "table_not_found")
    await tables.work()
    events = [e["type"] for e in await happenings(tables)]
    assert events.count("data_table.created") == 2
    assert events.count("data_table.deleted") == 1


BAD_COLUMNS: list[tuple[dict[str, Any], int, str]] = [
    ({"name": "id", "type": "text"}, 422, "columns.1.name"),
    ({"name": "or", "type": "text"}, 422, "columns.1.name"),
    ({"name": "Age", "type": "text"}, 422, "columns.1.name"),
    ({"name": "a" * 64, "type": "text"}, 422, "columns.1.name"),
    ({"name": "x", "type": "money"}, 422, "columns.1.type"),
    ({"name": "x", "type": "select"}, 422, "columns.1.options"),
    ({"name": "x", "type": "reference"}, 422, "columns.1.table_id"),
    ({"name": "x", "type": "reference", "table_id": "tbl_nobody"}, 422, "columns.1.table_id"),
    ({"name": "x", "type": "json", "unique": True}, 422, "columns.1.unique"),
    ({"name": "x", "type": "multi_select", "options": ["a"], "indexed": True}, 422, "columns.1.indexed"),
    ({"name": "x", "type": "integer", "default": "7"}, 422, "columns.1.default"),
    ({"name": "x", "type": "email", "unique": True, "default": "a@b.cd"}, 422, "columns.1.default"),
    ({"name": "name", "type": "text"}, 409, ""),
]


async def test_columns_that_make_no_sense_are_refused_by_their_place(tables: Tables) -> None:
    wrong = []
    for column, status, place in BAD_COLUMNS:
        body = {"name": "T", "columns": [{"name": "name", "type": "text"}, column]}
        answer = await tables.person.post(BASE, body)
        if answer.status != status or (place and list(answer.details) != [place]):
            wrong.append((column, answer))
    assert not wrong
    many = [{"name": f"n{at}", "type": "number", "indexed": True} for at in range(7)]
    answer = await tables.person.post(BASE, {"name": "T", "columns": many})
    assert answer.details == {"columns.6.indexed": "a table has at most 6 indexes of this kind"}
    many = [{"name": f"n{at}", "type": "number", "unique": True} for at in range(5)]
    answer = await tables.person.post(BASE, {"name": "T", "columns": many})
    assert "columns.4.unique" in answer.details


async def people_table(tables: Tables) -> tuple[dict[str, Any], str, str]:
    """Return a table of two people with their ages, the path of its columns and the path of the age."""
    table = await tables.make([{"name": "name", "type": "text"}, {"name": "age", "type": "integer"}])
    await tables.add(table, {"name": "Ada", "age": 36}, {"name": "Bob"})
    age = next(c["id"] for c in table["columns"] if c["name"] == "age")
    path = f"{BASE}/{table['id']}/columns"
    return table, path, f"{path}/{age}"


async def test_a_required_column_is_added_to_rows_with_its_default_and_deleted(tables: Tables) -> None:
    person = tables.person
    table, path, _ = await people_table(tables)
    level = {"name": "level", "type": "integer", "required": True}
    answer = await person.post(path, level)
    assert answer.details == {"default": "is required because the table has rows"}
    answer = await person.post(path, {**level, "default": 3, "indexed": True, "position": 0})
    assert (answer.status, answer.json()["data"]["position"]) == (201, 0)
    assert [row["level"] for row in (await tables.page(table))["data"]] == [3, 3]
    assert await tables.names(table, filter={"level": 3}) == ["Ada", "Bob"]
    added = f"{path}/{answer.json()['data']['id']}"
    assert (await person.delete(added)).status == 204
    assert "level" not in (await tables.page(table))["data"][0]
    assert (await person.delete(added)).code == "column_not_found"


async def test_a_column_is_renamed_and_moved_and_its_values_stay(tables: Tables) -> None:
    table, path, age = await people_table(tables)
    await tables.person.post(path, {"name": "level", "type": "integer", "position": 0})
    answer = await tables.person.patch(age, {"name": "years", "position": 5})
    assert (answer.json()["data"]["name"], answer.json()["data"]["position"]) == ("years", 2)
    assert [row["years"] for row in (await tables.page(table, sort="created_at"))["data"]] == [36, None]
    answer = await tables.person.patch(age, {"name": "level"})
    assert (answer.status, answer.code) == (409, "column_name_taken")


async def test_a_column_that_rows_leave_empty_cannot_become_required(tables: Tables) -> None:
    _, _, age = await people_table(tables)
    answer = await tables.person.patch(age, {"required": True})
    assert (answer.status, answer.code, answer.details["count"]) == (409, "cannot_convert", 1)


async def test_a_renamed_column_gets_an_index_and_finds_and_sorts_its_rows(tables: Tables) -> None:
    table, _, age = await people_table(tables)
    await tables.person.patch(age, {"name": "years"})
    answer = await tables.person.patch(age, {"indexed": True})
    assert answer.status == 200
    assert await tables.names(table, filter={"years": {"gt": 30}}) == ["Ada"]
    assert await tables.names(table, sort="years") == ["Ada", "Bob"]
    assert await tables.names(table, sort="-years") == ["Ada", "Bob"]


CONVERSIONS: list[tuple[str, dict[str, Any], list[Any], list[Any] | int]] = [
    ("text", {"type": "integer"}, ["1", " 22 ", "3.0"], [1, 22, 3]),
    ("text", {"type": "number"}, ["1.5", "-2e3", ""], [1.5, -2000, None]),
    ("text", {"type": "integer"}, ["1", "two", "3.5"], 2),
    ("text", {"type": "boolean"}, ["yes", "FALSE"], [True, False]),
    ("text", {"type": "date"}, ["2026-11-15"], ["2026-11-15"]),
    ("text", {"type": "date"}, ["2026-02-30", "soon"], 2),
    ("text", {"type": "email"}, ["a@example.com", "a"], 1),
    ("text", {"type": "select", "options": ["a", "b"]}, ["a", "b"], ["a", "b"]),
    ("text", {"type": "select", "options": ["a"]}, ["a", "b"], 1),
    ("text", {"type": "multi_select", "options": ["a", "b"]}, ["a; b", "b"], [["a", "b"], ["b"]]),
    ("text", {"type": "json"}, ["x"], ["x"]),
    ("text", {"indexed": True}, ["'=1", "y"], ["'=1", "y"]),
    ("text", {"unique": True}, ["x", "y"], ["x", "y"]),
    ("integer", {"type": "text"}, [1, -2], ["1", "-2"]),
    ("integer", {"type": "boolean"}, [0, 1], [False, True]),
    ("integer", {"type": "boolean"}, [2], 1),
    ("number", {"type": "integer"}, [2.0, 3], [2, 3]),
    ("number", {"type": "integer"}, [2.5], 1),
    ("boolean", {"type": "integer"}, [True, False], [1, 0]),
    ("boolean", {"type": "text"}, [True], ["true"]),
    ("date", {"type": "datetime"}, ["2026-11-15"], ["2026-11-15T00:00:00.000000Z"]),
    ("datetime", {"type": "date"}, ["2026-11-15T00:00:00Z"], ["2026-11-15"]),
    ("datetime", {"type": "date"}, ["2026-11-15T01:00:00Z"], 1),
    ("json", {"type": "text"}, [{"a": 1}], ['{"a":1}']),
]


async def test_a_column_is_converted_for_every_row_or_for_none(tables: Tables) -> None:
    wrong = []
    for number, (before, change, values, expected) in enumerate(CONVERSIONS):
        table = await tables.make([{"name": "name", "type": before}], slug=f"t{number}")
        await tables.add(table, *({"name": value} for value in values))
        path = f"{BASE}/{table['id']}/columns/{table['columns'][0]['id']}"
        answer = await tables.person.patch(path, change)
        if isinstance(expected, int):
            shown = (answer.code, answer.details["count"], len(answer.details["rows"]))
            is_right = shown == ("cannot_convert", expected, expected)
            is_right = is_right and (await tables.table(table))["columns"][0]["type"] == before
        else:
            is_right = answer.status == 200 and await tables.names(table) == expected
        if not is_right:
            wrong.append((before, change, values, answer, await tables.names(table)))
    assert not wrong
    table = await tables.make([{"name": "name", "type": "text"}])
    await tables.add(table, {"name": "x"}, {"name": "x"})
    path = f"{BASE}/{table['id']}/columns/{table['columns'][0]['id']}"
    answer = await tables.person.patch(path, {"unique": True})
    assert (answer.status, answer.code, answer.details) == (409, "value_taken", {"column": "name"})


async def test_a_table_that_another_refers_to_stays(tables: Tables) -> None:
    customers = await tables.make([{"name": "name", "type": "text"}])
    column = {"name": "customer", "type": "reference", "table_id": customers["id"]}
    orders = await tables.make([{"name": "name", "type": "text"}, column], name="Orders")
    (ada,) = await tables.add(customers, {"name": "Ada"})
    await tables.add(orders, {"name": "1", "customer": ada["id"]})
    path = f"{BASE}/{orders['id']}/rows"
    nobody = await tables.person.post(path, {"customer": "row_nobody"})
    assert (nobody.status, nobody.details) == (422, {"customer": "there is no such row"})
    refused = await tables.person.delete(f"{BASE}/{customers['id']}")
    assert (refused.status, refused.code) == (409, "table_in_use")
    assert refused.details == {"data_tables": ["Orders.customer"]}
    assert (await tables.person.delete(f"{BASE}/{orders['id']}")).status == 204
    assert (await tables.person.delete(f"{BASE}/{customers['id']}")).status == 204


async def test_what_uses_a_table_is_listed_by_kind(tables: Tables) -> None:
    table = await tables.make()
    path = f"{BASE}/{table['id']}/usage"
    unused = (await tables.person.get(path)).json()
    assert not any(unused.values())
    column = {"name": "customer", "type": "reference", "table_id": table["id"]}
    other = await tables.make([column], name="Orders")
    assert (await tables.person.get(path)).json()["data_tables"] == [
        {"id": other["id"], "name": "Orders.customer"}
    ]
