"""A key of a row that no column takes is refused by its name, wherever rows are written."""

from typing import Any

import msgspec
import pytest

from tests.factories.forms import NAME, make_form, submission, submit
from tests.factories.workflows import make_workflow, node
from tests.factories.workflows import run as run_workflow
from tests.tables.tables import BASE, Tables
from tests.tables.tool_calls import run

COLUMNS = [{"name": "name", "type": "text"}, {"name": "email", "type": "email", "unique": True}]
NO_COLUMN = "the table has no such column"


async def test_rows_with_unknown_keys_are_refused(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    (row,) = await tables.add(table, {"name": "Ada", "email": "ada@example.com"})
    here = f"{BASE}/{table['id']}/rows"
    wrong = {"name": "Eve", "nmae": "Eve", "data.x": 1}
    people = tables.person
    for answer in (
        await people.post(here, wrong),
        await people.put(f"{here}/{row['id']}", wrong),
        await people.patch(f"{here}/{row['id']}", wrong),
    ):
        assert (answer.status, answer.code) == (422, "validation_error"), answer
        assert answer.details == {"nmae": NO_COLUMN, "data.x": NO_COLUMN}
    many = [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"nope": None, "name": "d"}]
    batch = await people.post(here, {"rows": many})
    assert (batch.status, batch.details) == (422, {"rows.3.nope": NO_COLUMN})
    addressed = [{**one, "email": f"{at}@example.com"} for at, one in enumerate(many)]
    for is_dry in (True, False):
        body = {"match": ["email"], "rows": addressed, "dry_run": is_dry}
        upserted = await people.post(f"{here}/upsert", body)
        assert (upserted.status, upserted.details) == (422, {"rows.3.nope": NO_COLUMN})
    assert await tables.names(table) == ["Ada"]


async def test_a_row_that_was_read_can_be_sent_back(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    (row,) = await tables.add(table, {"name": "Ada", "email": "ada@example.com"})
    here = f"{BASE}/{table['id']}/rows"
    for answer in (
        await tables.person.put(f"{here}/{row['id']}", {**row, "name": "Ada L."}),
        await tables.person.patch(f"{here}/{row['id']}", {**row, "name": "Ada K."}),
        await tables.person.post(f"{here}/upsert", {"match": ["email"], "rows": [row]}),
        await tables.person.post(here, {**row, "email": "two@example.com"}),
        await tables.person.post(here, {"rows": [{**row, "email": "three@example.com"}]}),
    ):
        assert answer.status in {200, 201}, answer
    rows = (await tables.page(table))["data"]
    assert len({one["id"] for one in rows}) == 3
    assert [one["created_at"] for one in rows if one["id"] == row["id"]] == [row["created_at"]]


@pytest.mark.parametrize("format", ["csv", "json"])
async def test_an_import_names_what_no_column_takes_and_goes_on(tables: Tables, format: str) -> None:
    table = await tables.make(COLUMNS)
    rows = [
        {"id": "row_1", "name": "Ada", "Nickname": "Countess", "age": "36"},
        {"id": "row_2", "name": "Bob", "Nickname": "", "age": "20"},
    ]
    content = msgspec.json.encode(rows)
    if format == "csv":
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        content = "\n".join(lines).encode()
    done = await tables.bring(table, f"people.{format}", content)
    assert (done["status"], done["rows_created"], done["rows_failed"]) == ("completed", 2, 0)
    assert done["unmapped_columns"] == ["Nickname", "age"]
    assert await tables.names(table) == ["Ada", "Bob"]
    mapped = await tables.bring(table, f"people.{format}", content, mapping='{"Nickname": "name"}')
    assert mapped["unmapped_columns"] == ["name", "age"]
    whole = await tables.bring(table, "people.csv", b"name\nCy\n")
    assert whole["unmapped_columns"] == []


async def test_tools_that_write_unknown_columns_fail_and_say_which(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    (row,) = await tables.add(table, {"name": "Ada", "email": "ada@example.com"})
    config = {"table_id": table["id"], "operations": ["insert", "update", "upsert"], "match": ["email"]}
    for given in (
        {"operation": "insert", "values": {"nmae": "Eve"}},
        {"operation": "update", "row_id": row["id"], "values": {"nmae": "Eve"}},
        {"operation": "upsert", "values": {"email": "ada@example.com", "nmae": "Eve"}},
    ):
        failed = await run(tables, config, given)
        assert (failed["status"], failed["error"]["code"]) == ("failed", "validation_error"), failed
        assert "nmae" in msgspec.json.encode(failed["error"]).decode()
    assert await tables.names(table) == ["Ada"]


@pytest.mark.parametrize("answers", [{"name": "Ada", "town": "Rome"}, {"name": "Ada"}])
async def test_a_form_that_maps_to_a_missing_column_says_so(
    tables: Tables, api: Any, answers: dict[str, str]
) -> None:
    table = await tables.make(COLUMNS)
    config = {
        "table_id": table["id"],
        "auto_save": True,
        "field_mapping": {"name": "name", "town": "city"},
    }
    town = {"id": "town", "type": "text"}
    form = await make_form(tables.person, NAME, town, data_table_config=config)
    id = await submit(api, form, answers)
    kept = await submission(tables.person, form, id)
    assert (kept["status"], kept["data_table_row_id"]) == ("received", None)
    assert "city" in kept["data_table_error"]
    assert "no such column" in kept["data_table_error"]


async def test_a_workflow_that_writes_an_unknown_column_fails_and_says_which(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    write = {"table_id": table["id"], "operation": "insert", "values": {"nmae": "Eve"}}
    workflow = await make_workflow(tables.person, node("write", "data_table", **write))
    done = await run_workflow(tables.service, tables.person, workflow)
    assert done["status"] == "failed"
    assert "nmae" in done["error"]["message"]
