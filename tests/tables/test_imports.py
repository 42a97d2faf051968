"""Files into tables: formats, mappings, modes, faults by row, hostile files, and a worker that is stopped."""

import asyncio
from typing import Any

import pytest

from retinue.files.models import File
from retinue.kit import failpoints
from retinue.kit.jobs.models import Job
from tests.factories.people import People
from tests.tables.sheets import HOSTILE, workbook
from tests.tables.tables import BASE, Tables, happenings

CSV = (
    b"\xef\xbb\xbfName;E-Mail;AGE;active;tags;Extra\r\n"
    b"Ada;ada@example.com;36;yes;a; b\r\n"
    b'"Bob\nB.";bob@example.com;;;"[""a"", ""b""]"\r\n'
    b";;;\r\n"
    b"Cy;ada@example.com;x;;\r\n"
    b";late@example.com;1;;\r\n"
    b"Dup;ada@example.com;1;;\r\n"
)


async def start_import(tables: Tables, table: dict[str, Any]) -> str:
    """Send CSV with its mapping and return the id of the job."""
    mapping = '{"Name": "name", "E-Mail": "email", "AGE": "age", "active": "active", "tags": "tags"}'
    answer = await tables.send(table, "people.csv", CSV, mapping=mapping)
    return answer.json()["data"]["job_id"]


async def test_a_file_is_read_row_by_row_and_faults_are_told_by_row(tables: Tables) -> None:
    table = await tables.make()
    job_id = await start_import(tables, table)
    await tables.work()
    done = await tables.import_of(table, job_id)
    assert (done["status"], done["rows_read"], done["rows_created"], done["rows_failed"]) == (
        "completed",
        5,
        2,
        3,
    )
    assert done["errors"] == [
        {"row": 3, "errors": {"age": "must be a number"}},
        {"row": 4, "errors": {"name": "is required"}},
        {"row": 5, "errors": {"email": "another row already has this value"}},
    ]
    found = (await tables.page(table, sort="created_at", fields="name,age,active,tags"))["data"]
    shown = [(row["name"], row["age"], row["active"], row["tags"]) for row in found]
    assert shown == [("Ada", 36, True, ["a"]), ("Bob\nB.", None, True, ["a", "b"])]
    assert (await tables.table(table))["row_count"] == 2


async def test_a_waiting_import_refuses_another_and_a_new_column(tables: Tables) -> None:
    table = await tables.make()
    job_id = await start_import(tables, table)
    waiting = await tables.import_of(table, job_id)
    assert (waiting["status"], waiting["rows_read"], waiting["filename"]) == ("pending", 0, "people.csv")
    second = await tables.send(table, "people.csv", CSV)
    assert (second.status, second.code) == (409, "import_running")
    column = await tables.person.post(f"{BASE}/{table['id']}/columns", {"name": "x", "type": "text"})
    assert (column.status, column.code) == (409, "import_running")


async def test_a_finished_import_is_announced_and_listed_and_its_file_is_deleted(tables: Tables) -> None:
    table = await tables.make()
    job_id = await start_import(tables, table)
    assert job_id.startswith("job_")
    await tables.work()
    (told,) = [one["data"] for one in await happenings(tables) if "import" in one["type"]]
    assert (told["job_id"], told["rows_created"], told["status"]) == (job_id, 2, "completed")
    async with People(tables.service).context(tables.person.user.tenant_id) as ctx:
        assert await ctx.db.count(File) == 0
    listed = (await tables.person.get(f"{BASE}/{table['id']}/imports")).json()
    assert [one["id"] for one in listed["data"]] == [job_id]


async def test_a_workbook_and_lines_of_json_are_imported(tables: Tables) -> None:
    table = await tables.make()
    first = await tables.bring(table, "a.xlsx", workbook())
    assert (first["status"], first["rows_created"], first["error"]) == ("completed", 2, None)
    ada, bob = (await tables.page(table, sort="created_at"))["data"]
    assert [ada[name] for name in ("name", "age", "born", "active", "balance")] == [
        *("Ada", 36, "2000-01-01", False, 2.5)
    ]
    assert (bob["name"], bob["age"], bob["balance"]) == ("Bob", None, None)
    lines = b'{"name": "Cy", "age": 7, "tags": ["b"]}\n{"name": "Di", "age": "x"}\n{"name": 5}'
    more = await tables.bring(table, "b.json", lines)
    assert (more["rows_created"], more["rows_failed"]) == (2, 1)
    assert await tables.names(table) == ["Ada", "Bob", "Cy", "5"]


async def test_an_upsert_updates_the_rows_that_match_and_adds_the_others(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, {"name": "Ada", "age": 36}, {"name": "Bob"})
    file = b"name,age\nAda,40\nEve,1\nAda,41\n,3\n"
    changed = await tables.bring(table, "c.csv", file, mode="upsert", match="name")
    assert [changed[key] for key in ("rows_created", "rows_updated", "rows_failed")] == [1, 2, 1]
    assert changed["errors"] == [{"row": 4, "errors": {"name": "is required"}}]
    assert (await tables.page(table, filter={"name": "Ada"}))["data"][0]["age"] == 41
    assert await tables.names(table) == ["Ada", "Bob", "Eve"]


async def test_a_replacement_with_no_good_row_keeps_the_table(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, {"name": "Ada"}, {"name": "Bob"})
    bad = await tables.bring(table, "d.csv", b"name,age\nAda,old\n", mode="replace")
    assert (bad["status"], bad["error"]["code"]) == ("failed", "no_rows")
    assert len(await tables.names(table)) == 2


async def test_a_replacement_leaves_only_the_rows_of_the_file(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, {"name": "Ada"}, {"name": "Bob"})
    new = await tables.bring(table, "e.json", b'[{"name": "Zoe", "email": "z@example.com"}]', mode="replace")
    assert (new["status"], await tables.names(table)) == ("completed", ["Zoe"])
    assert (await tables.table(table))["row_count"] == 1
    empty = await tables.bring(table, "f.csv", b"name\n", mode="replace")
    assert (empty["status"], await tables.names(table)) == ("completed", [])


async def test_what_can_be_refused_at_once_is(tables: Tables) -> None:
    table = await tables.make()
    for name, fields, status, place in (
        ("a.txt", {}, 415, None),
        ("a.csv", {"mode": "merge"}, 422, "mode"),
        ("a.csv", {"mode": "upsert"}, 422, "match"),
        ("a.csv", {"mode": "upsert", "match": "nobody"}, 422, "match"),
        ("a.csv", {"mapping": "x"}, 422, "mapping"),
        ("a.csv", {"mapping": '{"a": "nobody"}'}, 422, "mapping.a"),
        ("a.csv", {"mapping": '{"a": "name", "b": "name"}'}, 422, "mapping"),
    ):
        answer = await tables.send(table, name, b"name\nx\n", **fields)
        assert (answer.status, list(answer.details or [None])) == (status, [place]), answer
    answer = await tables.person.post(f"{BASE}/{table['id']}/import", files={}, fields={"mode": "append"})
    assert (answer.status, list(answer.details)) == (422, ["file"])


@pytest.mark.either_database
async def test_hostile_files_fail_alone_and_leave_nothing(tables: Tables) -> None:
    table = await tables.make([{"name": "name", "type": "text"}])
    wrong = []
    for filename, content, code in HOSTILE:
        done = await tables.bring(table, filename, content)
        if done["status"] != "failed" or done["error"]["code"] != code:
            wrong.append((filename, content[:80], done["status"], done["error"]))
    assert not wrong
    assert await tables.names(table) == []


def many(count: int) -> bytes:
    return b"name,email,age\n" + b"".join(b"N%d,n%d@example.com,%d\n" % (n, n, n % 90) for n in range(count))


async def test_a_stopped_worker_is_followed_by_one_that_goes_on(tables: Tables) -> None:
    table = await tables.make()
    answer = await tables.send(table, "a.csv", many(5000))
    job_id = answer.json()["data"]["job_id"]
    failpoints.arm("after_import_batch:1:error,before_commit:6:error")
    try:
        await tables.work()
    finally:
        failpoints.arm("")
    stopped = await tables.import_of(table, job_id)
    assert (stopped["status"], stopped["rows_read"]) == ("running", 2000)
    assert (await tables.table(table))["row_count"] == 2000
    tables.service.instance.clock.advance(60)
    await tables.work()
    done = await tables.import_of(table, job_id)
    assert (done["status"], done["rows_created"], done["rows_failed"]) == ("completed", 5000, 0)
    page = await tables.page(table, per_page=1, sort="created_at", page=5000)
    assert (page["pagination"]["total"], page["data"][0]["name"]) == (5000, "N4999")
    aggregate = await tables.person.get(
        f"{BASE}/{table['id']}/aggregate", query={"metrics": "count,distinct:email"}
    )
    assert aggregate.json()["data"] == [{"count": 5000, "distinct:email": 5000}]


async def test_an_import_is_cancelled_before_and_in_the_middle(tables: Tables) -> None:
    table = await tables.make()
    person = tables.person
    for mode, left in (("append", 2000), ("replace", 2000)):
        job_id = (await tables.send(table, "a.csv", many(5000), mode=mode)).json()["data"]["job_id"]
        path = f"{BASE}/{table['id']}/imports/{job_id}"
        failpoints.arm("after_import_batch:1:error")
        await tables.work()
        failpoints.arm("")
        cancelled = await person.post(f"{path}/cancel")
        assert (cancelled.status, cancelled.json()["data"]["status"]) == (200, "cancelled")
        tables.service.instance.clock.advance(60)
        await tables.work()
        assert (await tables.import_of(table, job_id))["rows_read"] == 2000
        assert (await tables.table(table))["row_count"] == left
        again = await person.post(f"{path}/cancel")
        assert (again.status, again.code) == (409, "invalid_transition")
    gone = await person.post(f"{BASE}/{table['id']}/imports/job_nobody/cancel")
    assert (gone.status, gone.code) == (404, "job_not_found")
    # The bytes of the imported files are kept for a day.
    tables.service.instance.clock.advance(24 * 3600 + 1)
    await tables.work()
    async with People(tables.service).context(person.user.tenant_id) as ctx:
        assert await ctx.db.count(Job) == 0


async def test_others_write_while_a_file_is_imported(tables: Tables) -> None:
    table = await tables.make()
    await tables.send(table, "a.csv", many(4500))

    async def write() -> list[int]:
        path = f"{BASE}/{table['id']}/rows"
        return [
            (await tables.person.post(path, {"name": f"W{n}", "email": f"n{4400 + n}@example.com"})).status
            for n in range(5)
        ]

    statuses, _ = await asyncio.gather(write(), tables.work())
    total = (await tables.table(table))["row_count"]
    assert total == 4500, statuses
    found: dict[str, Any] = await tables.page(table, filter={"email": "n4400@example.com"})
    assert len(found["data"]) == 1
