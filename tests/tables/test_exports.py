"""Tables into files and back: nothing is lost, and no cell is a formula."""

import csv
import io
import json
import zipfile

from tests.tables.tables import BASE, Tables

DANGEROUS = [
    "=CMD|'/C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''=1",
    "plain",
    'q"uote,;',
    "a\nb",
]
COLUMNS = [
    {"name": "name", "type": "text"},
    {"name": "amount", "type": "number"},
    {"name": "done", "type": "boolean"},
    {"name": "at", "type": "datetime"},
    {"name": "tags", "type": "multi_select", "options": ["=a", "b"]},
    {"name": "extra", "type": "json"},
]


async def test_what_is_exported_is_imported_again_as_it_was(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    rows = [
        {"name": name, "amount": -number - 0.5, "done": number % 2 == 0, "at": "2026-11-15T08:30:00Z",
         "tags": ["=a"], "extra": {"k": [number, "=x"]}}
        for number, name in enumerate(DANGEROUS)
    ]  # fmt: skip
    await tables.add(table, *rows, {"name": "nothing else"})
    for format in ("csv", "json", "xlsx"):
        content = await tables.export(table, format=format)
        copy = await tables.make(COLUMNS, name=f"Copy {format}")
        done = await tables.bring(copy, f"a.{format}", content)
        assert (done["status"], done["rows_created"], done["errors"]) == ("completed", 12, [])
        wanted = (await tables.page(table, sort="created_at"))["data"]
        got = (await tables.page(copy, sort="created_at"))["data"]
        own = {"id": "", "created_at": "", "updated_at": ""}
        assert [row | own for row in got] == [row | own for row in wanted], format


async def test_no_cell_of_an_export_is_a_formula(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    await tables.add(table, *({"name": name, "extra": name, "amount": -5} for name in DANGEROUS))
    text = (await tables.export(table, format="csv")).decode()
    for row in list(csv.reader(io.StringIO(text)))[1:]:
        for cell in row:
            assert cell == "-5" or not cell.startswith(("=", "+", "-", "@", "\t", "\r")), row
    assert "\"'=CMD|'/C calc'!A0\"" in text
    with zipfile.ZipFile(io.BytesIO(await tables.export(table, format="xlsx"))) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        assert archive.testzip() is None
    assert "<f>" not in sheet
    assert "'=CMD|'/C calc'!A0" in sheet
    assert 'preserve">=' not in sheet


async def test_an_export_is_narrowed_like_a_list(tables: Tables) -> None:
    table = await tables.make(slug="sales")
    assert json.loads(await tables.export(table, format="json")) == []
    await tables.add(table, *({"name": f"N{n}", "age": n} for n in range(999)), {"name": "last"})
    answer = await tables.person.get(
        f"{BASE}/{table['id']}/export",
        query={"format": "json", "filter": '{"age": {"gte": 996}}', "fields": "name"},
    )
    assert answer.headers["content-disposition"] == 'attachment; filename="sales.json"'
    assert [row["name"] for row in answer.json()] == ["N996", "N997", "N998"]
    assert answer.json()[0].keys() == {"id", "name"}
    lines = (await tables.export(table)).decode().splitlines()
    assert len(lines) == 1001
    refused = await tables.person.get(f"{BASE}/{table['id']}/export", query={"format": "pdf"})
    assert (refused.status, list(refused.details)) == (422, ["format"])
