"""Imports that are only tried: everything is counted, and nothing is stored."""

import json
from typing import Any

import pytest

from retinue.kit.clock import ManualClock
from retinue.tables.transfers import imports
from tests.factories.people import People
from tests.tables.sheets import workbook
from tests.tables.tables import BASE, Tables, happenings

CSV = b"""name,email,age,Extra
Ada,ada@example.com,36,a
"Bob
B.",bob(at)example.com,20,b

Cy,cy@example.com,old,c
Di,ada@example.com,,
,late@example.com,old,
"""


async def _try(tables: Tables, table: dict[str, Any], name: str, content: bytes, **fields: str) -> Any:
    files = {"file": (name, content, "application/octet-stream")}
    answer = await tables.person.post(
        f"{BASE}/{table['id']}/import", files=files, fields=fields, query={"dry_run": "true"}
    )
    assert answer.status == 202, answer
    await tables.work()
    return await tables.import_of(table, answer.json()["data"]["job_id"])


@pytest.fixture(params=(2000, 2))
def _batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is one batch, or several."""
    monkeypatch.setattr(imports, "BATCH_SIZE", request.param)


@pytest.mark.usefixtures("_batch")
async def test_problems_are_told_by_line_and_column_and_counted(tables: Tables) -> None:
    table = await tables.make()
    done = await _try(tables, table, "people.csv", CSV)
    assert (done["status"], done["dry_run"], done["unmapped_columns"]) == ("completed", True, ["Extra"])
    assert (done["rows_read"], done["rows_created"], done["rows_failed"]) == (5, 1, 4)
    assert sorted((one["line"], one["row"], one["column"]) for one in done["problems"]) == [
        (3, 2, "email"),
        (6, 3, "age"),
        (7, 4, "email"),
        (8, 5, "age"),
        (8, 5, "name"),
    ]
    counts = {(one["column"], one["message"]): one["rows"] for one in done["problem_counts"]}
    assert counts[("age", "must be a number")] == 2
    assert done["sample"]["columns"] == ["name", "email", "age", "Extra"]
    assert done["sample"]["rows"][0] == ["Ada", "ada@example.com", "36", "a"]


@pytest.mark.usefixtures("_batch")
async def test_a_dry_run_counts_what_the_import_then_does(tables: Tables) -> None:
    lines = "".join(f"P{n % 7},p{n % 7}@example.com,{n}\n" for n in range(10))
    content = f"name,email,age\n{lines}".encode()
    kept = {"name": "Old", "email": "p3@example.com"}
    for fields in ({}, {"mode": "upsert", "match": "email"}, {"mode": "replace"}):
        table = await tables.make()
        await tables.add(table, kept)
        tried = await _try(tables, table, "p.csv", content, **fields)
        assert await tables.names(table) == ["Old"]
        done = await tables.bring(table, "p.csv", content, **fields)
        counts = ("rows_read", "rows_created", "rows_updated", "rows_failed", "problem_counts")
        assert [tried[name] for name in counts] == [done[name] for name in counts]


async def test_a_dry_run_is_neither_announced_nor_listed_and_is_kept_for_a_day(
    tables: Tables, people: People, clock: ManualClock
) -> None:
    table = await tables.make()
    tried = await _try(tables, table, "people.csv", CSV)
    assert [one for one in await happenings(tables) if "import" in one["type"]] == []
    assert (await tables.person.get(f"{BASE}/{table['id']}/imports")).json()["data"] == []
    clock.advance(86_400 + 400)
    await tables.work()
    later = await people.sign_in(tables.person.user)
    gone = await later.get(f"{BASE}/{table['id']}/imports/{tried['id']}")
    assert (gone.status, gone.code) == (404, "job_not_found")


async def test_a_file_that_fits_no_column_still_shows_what_is_in_it(tables: Tables) -> None:
    table = await tables.make()
    tried = await _try(tables, table, "people.csv", b"Wer;Wo\nAda;Paris\n")
    assert (tried["status"], tried["error"]["code"]) == ("failed", "mapping_error")
    assert tried["sample"] == {"columns": ["Wer", "Wo"], "rows": [["Ada", "Paris"]]}


async def test_lines_of_a_workbook_and_rows_of_json_are_told(tables: Tables) -> None:
    columns = [{"name": "name", "type": "text"}, {"name": "age", "type": "integer", "required": True}]
    table = await tables.make(columns)
    tried = await _try(tables, table, "p.xlsx", workbook())
    assert [(one["line"], one["row"]) for one in tried["problems"]] == [(4, 2)]
    content = json.dumps([{"name": "Ada"}, {"name": "Bob", "age": "x"}]).encode()
    tried = await _try(tables, table, "p.json", content)
    assert [(one["line"], one["row"]) for one in tried["problems"]] == [(None, 1), (None, 2)]
    assert tried["sample"]["columns"] == ["name", "age"]


async def test_only_the_first_problems_are_told_and_all_are_counted(tables: Tables) -> None:
    table = await tables.make()
    content = b"name,age\n" + b"Ada,x\n" * 300
    done = await tables.bring(table, "people.csv", content)
    assert (len(done["problems"]), done["rows_failed"], done["dry_run"], done["sample"]) == (
        20,
        300,
        False,
        None,
    )
    assert done["problem_counts"] == [{"column": "age", "message": "must be a number", "rows": 300}]


async def test_a_cell_and_a_column_with_a_nul_are_told_and_end_nothing(tables: Tables) -> None:
    table = await tables.make()
    content = json.dumps([{"name": "Ada", "age": 3}, {"name": "B\0b", "no\0te": "x"}]).encode()
    done = await _try(tables, table, "people.json", content)
    assert (done["status"], done["rows_created"], done["rows_failed"]) == ("completed", 1, 1)
    assert done["sample"]["columns"] == ["name", "age", "no\ufffdte"]
    assert done["unmapped_columns"] == ["no\ufffdte"]
