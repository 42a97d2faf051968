"""Deleted rows that are put back: within ten minutes, all or none, and only where they fit."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.kit.clock import ManualClock
from tests.factories.people import People
from tests.tables.tables import BASE, Tables, happenings

ROWS = [
    {"name": "Ada", "email": "ada@example.com", "age": 36, "plan": "pro", "tags": ["a"]},
    {"name": "Bob", "email": "bob@example.com", "age": 20, "plan": "free"},
    {"name": "Cy", "age": 20},
]


async def _delete(tables: Tables, table: dict[str, Any], **filter: Any) -> dict[str, Any]:
    answer = await tables.person.post(f"{BASE}/{table['id']}/rows/delete", {"filter": filter})
    assert answer.status == 200, answer
    return dict(answer.json()["data"])


async def _restore(tables: Tables, table: dict[str, Any], **body: Any) -> Any:
    return await tables.person.post(f"{BASE}/{table['id']}/rows/restore", body)


async def test_the_rows_of_a_deletion_come_back_as_they_were(tables: Tables) -> None:
    table = await tables.make()
    added = await tables.add(table, *ROWS)
    deletion = await _delete(tables, table, age=20)
    assert (deletion["deleted"], (await tables.table(table))["row_count"]) == (2, 1)
    answer = await _restore(tables, table, deletion_id=deletion["deletion_id"])
    ids = [row["id"] for row in added[1:]]
    assert (answer.status, answer.json()["data"]) == (200, {"restored": 2, "row_ids": ids})
    assert (await tables.page(table, sort="created_at"))["data"] == added
    assert (await tables.table(table))["row_count"] == 3
    assert await tables.names(table, filter={"age": 20}, sort="age") == ["Bob", "Cy"]


async def test_rows_that_two_delete_at_once_are_deleted_and_kept_once(tables: Tables) -> None:
    table = await tables.make()
    added = await tables.add(table, *({"name": f"Row {n}", "age": 20} for n in range(40)))
    both = await asyncio.gather(*(_delete(tables, table, age=20) for _ in range(2)))
    assert sum(one["deleted"] for one in both) == len(added)
    ids = [one["deletion_id"] for one in both if one["deletion_id"] is not None]
    answers = [await _restore(tables, table, deletion_id=id) for id in ids]
    assert sum(one.json()["data"]["restored"] for one in answers) == len(added)
    assert (await tables.table(table))["row_count"] == len(added)


async def test_rows_of_several_deletions_come_back_by_their_ids(tables: Tables) -> None:
    table = await tables.make()
    added = await tables.add(table, *ROWS)
    ids = [row["id"] for row in added]
    await tables.person.delete(f"{BASE}/{table['id']}/rows/{ids[0]}")
    await _delete(tables, table, name="Bob")
    answer = await _restore(tables, table, row_ids=[ids[0], ids[1], ids[0]])
    assert answer.json()["data"] == {"restored": 2, "row_ids": ids[:2]}
    again = await _restore(tables, table, row_ids=ids[:1])
    assert (again.status, again.code, again.details) == (404, "deleted_rows_not_found", {"row_ids": ids[:1]})


async def test_a_row_can_be_deleted_and_put_back_again_and_again(tables: Tables) -> None:
    table = await tables.make()
    (row,) = await tables.add(table, ROWS[0])
    for _ in range(2):
        deletion = await _delete(tables, table, name="Ada")
        assert (await _restore(tables, table, deletion_id=deletion["deletion_id"])).status == 200
    assert (await tables.page(table))["data"] == [row]


async def test_after_ten_minutes_deleted_rows_are_gone(tables: Tables, clock: ManualClock) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    first = await _delete(tables, table, name="Ada")
    clock.advance(599)
    second = await _delete(tables, table, name="Bob")
    clock.advance(2)
    await tables.work()
    late = await _restore(tables, table, deletion_id=first["deletion_id"])
    assert (late.status, late.code) == (404, "deleted_rows_not_found")
    assert (await _restore(tables, table, deletion_id=second["deletion_id"])).status == 200


async def test_a_unique_value_that_was_taken_meanwhile_refuses_all(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    deletion = await _delete(tables, table, name=["Ada", "Cy"])
    await tables.add(table, {"name": "Other", "email": "ada@example.com"})
    answer = await _restore(tables, table, deletion_id=deletion["deletion_id"])
    assert (answer.status, answer.code, answer.details) == (409, "value_taken", {"column": "email"})
    assert (await tables.table(table))["row_count"] == 2
    assert await tables.names(table) == ["Bob", "Other"]


async def _change_column(tables: Tables, table: dict[str, Any], name: str, change: dict[str, Any]) -> None:
    column = next(one for one in table["columns"] if one["name"] == name)
    answer = await tables.person.patch(f"{BASE}/{table['id']}/columns/{column['id']}", change)
    assert answer.status == 200, answer


async def test_a_row_fits_renamed_deleted_and_added_columns(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    deletion = await _delete(tables, table, name="Ada")
    await _change_column(tables, table, "age", {"name": "years"})
    column = next(one for one in table["columns"] if one["name"] == "tags")
    await tables.person.delete(f"{BASE}/{table['id']}/columns/{column['id']}")
    await tables.person.post(f"{BASE}/{table['id']}/columns", {"name": "more", "type": "text"})
    assert (await _restore(tables, table, deletion_id=deletion["deletion_id"])).status == 200
    (row,) = (await tables.page(table, filter={"name": "Ada"}))["data"]
    assert (row["years"], row["more"], "tags" in row) == (36, None, False)


async def test_a_value_that_no_longer_fits_its_column_refuses_all(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    deletion = await _delete(tables, table, name="Ada")
    await _change_column(tables, table, "plan", {"options": ["free"]})
    answer = await _restore(tables, table, deletion_id=deletion["deletion_id"])
    assert (answer.status, answer.code, list(answer.details["columns"])) == (409, "columns_changed", ["plan"])


async def test_what_comes_back_is_announced_and_audited(tables: Tables, people: People) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    deletion = await _delete(tables, table, age=20)
    await _restore(tables, table, deletion_id=deletion["deletion_id"])
    told = [one for one in await happenings(tables) if "restored" in one["type"]]
    assert [one["type"] for one in told] == [
        "data_table.row.restored",
        "data_table.row.restored",
        "data_table.rows_restored",
    ]
    assert told[-1]["data"]["restored"] == 2


@pytest.mark.parametrize(
    "body", [{}, {"row_ids": ["row_a"], "deletion_id": "del_a"}, {"row_ids": []}, {"row_ids": ["x" * 65]}]
)
async def test_a_request_that_names_no_rows_is_refused(tables: Tables, body: dict[str, Any]) -> None:
    table = await tables.make()
    answer = await _restore(tables, table, **body)
    assert (answer.status, answer.code) == (422, "validation_error")


async def test_rows_come_back_only_to_their_table_and_tenant(tables: Tables, people: People) -> None:
    table, other = await tables.make(), await tables.make()
    await tables.add(table, *ROWS)
    deletion = await _delete(tables, table, name="Ada")
    assert (await _restore(tables, other, deletion_id=deletion["deletion_id"])).status == 404
    stranger = Tables(
        tables.service, await people.signed_in(Role.agent_developer, await people.tenant("Other"))
    )
    assert (await _restore(stranger, table, deletion_id=deletion["deletion_id"])).code == "table_not_found"


async def test_a_dry_deletion_names_no_deletion(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, *ROWS)
    body = {"filter": {"name": "Ada"}, "dry_run": True}
    answer = await tables.person.post(f"{BASE}/{table['id']}/rows/delete", body)
    assert answer.json()["data"] == {"matched": 1, "deleted": 0, "deletion_id": None}
