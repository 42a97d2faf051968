"""One row: changed, replaced and deleted, announced, and refused to those who come too late."""

from typing import Any

from tests.tables.tables import BASE, Tables, happenings

ADA = {"name": "Ada", "email": "ada@example.com", "age": 36, "balance": 10.5, "plan": "pro", "tags": ["a"]}


async def ada_in(tables: Tables) -> tuple[dict[str, Any], str]:
    """Return Ada's row in a new table, and its path."""
    table = await tables.make()
    row = (await tables.person.post(f"{BASE}/{table['id']}/rows", ADA)).json()["data"]
    return row, f"{BASE}/{table['id']}/rows/{row['id']}"


async def test_a_changed_row_keeps_its_other_values(tables: Tables) -> None:
    row, path = await ada_in(tables)
    assert (row["active"], row["born"], row["created_at"]) == (True, None, row["updated_at"])
    answer = await tables.person.patch(path, {"age": 37}, headers={"If-Match": row["updated_at"]})
    changed = answer.json()["data"]
    assert changed == {**row, "age": 37, "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > row["updated_at"]
    same = (await tables.person.patch(path, {"age": 37})).json()["data"]
    assert same["updated_at"] == changed["updated_at"]


async def test_a_change_to_a_row_that_someone_else_changed_first_is_refused(tables: Tables) -> None:
    row, path = await ada_in(tables)
    current = (await tables.person.patch(path, {"age": 37})).json()["data"]["updated_at"]
    late = await tables.person.patch(path, {"age": 38}, headers={"If-Match": f'"{row["updated_at"]}"'})
    assert (late.status, late.code) == (412, "version_conflict")
    assert late.details == {"updated_at": current, "current": f'"{current}"'}
    assert (await tables.person.delete(path, headers={"If-Match": "x"})).status == 412


async def test_a_replaced_row_has_only_the_values_that_were_sent(tables: Tables) -> None:
    row, path = await ada_in(tables)
    refused = await tables.person.put(path, {"age": 1})
    assert (refused.status, refused.details) == (422, {"name": "is required"})
    sent = {**row, "name": "Ada L.", "age": 37, "email": None, "tags": None}
    replaced = (await tables.person.put(path, sent)).json()["data"]
    assert {name: replaced[name] for name in ("name", "email", "age", "tags")} == {
        "name": "Ada L.",
        "email": None,
        "age": 37,
        "tags": None,
    }
    same = (await tables.person.patch(path, {"age": 37})).json()["data"]
    assert same["updated_at"] == replaced["updated_at"]


async def test_a_deleted_row_is_neither_found_nor_counted(tables: Tables) -> None:
    _, path = await ada_in(tables)
    assert (await tables.person.delete(path)).status == 204
    for answer in (
        await tables.person.get(path),
        await tables.person.patch(path, {}),
        await tables.person.delete(path),
    ):
        assert (answer.status, answer.code) == (404, "row_not_found")
    (table,) = (await tables.person.get(BASE)).json()["data"]
    assert table["row_count"] == 0


async def test_every_change_of_a_row_is_announced_and_one_without_effect_is_not(tables: Tables) -> None:
    row, path = await ada_in(tables)
    changed = (await tables.person.patch(path, {"age": 37})).json()["data"]
    replaced = (await tables.person.put(path, {**changed, "name": "Ada L."})).json()["data"]
    await tables.person.patch(path, {"age": 37})
    await tables.person.delete(path)
    told = [one for one in await happenings(tables) if one["type"].startswith("data_table.row")]
    assert [one["type"].rpartition(".")[2] for one in told] == ["created", "updated", "updated", "deleted"]
    assert told[1]["data"]["changes"] == ["age"]
    assert (told[3]["data"]["row_id"], told[3]["data"]["row"]) == (row["id"], replaced)
