"""SQLite files of a tenant: only below its folder, only existing ones, in a process that can hurt nothing."""

import asyncio
import os
import shutil
import sqlite3
import sys
import time

import pytest

from retinue.adapters.databases import (
    DatabaseFailed,
    DatabaseNotConfigured,
    DatabaseTimeout,
    Query,
    QueryNotAllowed,
    ResultTooLarge,
    check,
    ping,
    run,
)
from tests.adapters.shop import fingerprint

EVERYTHING = ("select", "insert", "update", "delete")


@pytest.fixture
def ask(sqlite_shop, open_egress):
    async def answer(sql, params=None, timeout_s=10.0, max_rows=100, **changed):
        query = sql if isinstance(sql, Query) else check(sql, params, db_type="sqlite", allowed=EVERYTHING)
        spec = sqlite_shop.spec(**changed)
        return await run(open_egress, spec, query, timeout_s=timeout_s, max_rows=max_rows)

    return answer


@pytest.fixture
def platform(sqlite_shop):
    """The platform's own database, two folders up, with a secret in it."""
    path = sqlite_shop.folder.parent.parent / "retinue.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE secrets (value)")
    connection.execute("INSERT INTO secrets VALUES ('canary')")
    connection.commit()
    connection.close()
    return path


async def test_nothing_outside_the_tenants_folder_is_opened(ask, sqlite_shop, platform):
    folder = sqlite_shop.folder
    other = folder.parent / "other"
    other.mkdir()
    shutil.copy(platform, other / "shop.db")
    (folder / "link.db").symlink_to(platform)
    (folder / "link").symlink_to(platform.parent)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    for name in (
        *(
            "../../retinue.db",
            str(platform),
            "../other/shop.db",
            "link.db",
            "link/retinue.db",
            "loop",
            "folder",
            "pipe",
        ),
        *(
            "",
            ".",
            "..",
            "/",
            "missing.db",
            "shop.db\0",
            ":memory:",
            "file:shop.db",
            f"file://{platform}",
            "shop.db?mode=rwc",
        ),
        *("a/../../../retinue.db", "x" * 5000, "~/shop.db"),
    ):
        with pytest.raises(DatabaseNotConfigured) as caught:
            await ask("SELECT * FROM secrets", database=name)
        assert caught.value.code == "not_configured"
        assert str(platform.parent) not in caught.value.message
    assert sorted(path.name for path in folder.iterdir()) == [
        "folder",
        "link",
        "link.db",
        "loop",
        "pipe",
        "shop.db",
    ]


async def test_a_file_with_an_odd_name_or_in_a_folder_is_found(ask, sqlite_shop, open_egress):
    folder = sqlite_shop.folder
    for name in ("a b.db", "100%.db", "what?mode=rwc", "#1.db", "ümläut.db", "deeper/shop.db"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(folder / "shop.db", folder / name)
        assert (await ask("SELECT count(*) AS n FROM customers", database=name)).rows == [{"n": 3}]
        await ping(open_egress, sqlite_shop.spec(database=name), timeout_s=5)
    (folder / "inside.db").symlink_to(folder / "shop.db")
    assert (await ask("SELECT count(*) AS n FROM customers", database="inside.db")).rows == [{"n": 3}]


async def test_a_folder_that_does_not_exist_is_not_made(ask, tmp_path):
    with pytest.raises(DatabaseNotConfigured):
        await ask("SELECT 1", folder=tmp_path / "nowhere" / "tenant")
    assert not (tmp_path / "nowhere").exists()


async def test_a_file_that_is_no_database_is_refused(ask, sqlite_shop, open_egress):
    (sqlite_shop.folder / "text.db").write_text("hello, this is certainly no database" * 100)
    with pytest.raises(DatabaseNotConfigured, match="not a usable SQLite database"):
        await ask("SELECT * FROM customers", database="text.db")
    with pytest.raises(DatabaseNotConfigured):
        await ping(open_egress, sqlite_shop.spec(database="text.db"), timeout_s=5)


async def test_the_process_itself_refuses_what_the_guard_would_refuse(ask, sqlite_shop, platform):
    before = await fingerprint(sqlite_shop)
    for sql in (
        *(
            f"ATTACH '{platform}' AS p",
            "PRAGMA database_list",
            "SELECT * FROM pragma_database_list",
            "VACUUM",
        ),
        *(
            f"VACUUM INTO '{sqlite_shop.folder / 'copy.db'}'",
            "SELECT load_extension('x')",
            "CREATE TABLE x (a)",
        ),
        *(
            "DROP TABLE notes",
            "SELECT fts3_tokenizer('simple')",
            "CREATE TEMP TABLE x (a)",
            "ROLLBACK",
            "COMMIT",
        ),
        *(
            "UPDATE sqlite_master SET sql = ''",
            "INSERT INTO sqlite_master VALUES (1,2,3,4,5)",
            "SELECT 1; SELECT 2",
        ),
    ):
        for operation in ("select", "insert"):
            with pytest.raises((QueryNotAllowed, DatabaseFailed)):
                await ask(Query("sqlite", operation, (sql,)))
    assert await fingerprint(sqlite_shop) == before


async def test_a_function_hidden_in_the_schema_is_not_called(ask, sqlite_shop):
    connection = sqlite3.connect(sqlite_shop.folder / "shop.db")
    connection.execute("CREATE VIEW trap AS SELECT load_extension('x') AS a")
    connection.execute("CREATE TRIGGER trap2 AFTER INSERT ON notes BEGIN SELECT load_extension('x'); END")
    connection.execute(
        "CREATE TRIGGER fine AFTER DELETE ON orders BEGIN INSERT INTO notes VALUES (OLD.id); END"
    )
    connection.commit()
    connection.close()
    for sql in ("SELECT * FROM trap", "INSERT INTO notes VALUES (1)"):
        with pytest.raises((QueryNotAllowed, DatabaseFailed)):
            await ask(sql)


async def test_triggers_of_the_schema_may_write(ask, sqlite_shop):
    connection = sqlite3.connect(sqlite_shop.folder / "shop.db")
    connection.execute(
        "CREATE TRIGGER log AFTER DELETE ON orders BEGIN INSERT INTO notes VALUES (OLD.id); END"
    )
    connection.commit()
    connection.close()
    assert (await ask("DELETE FROM orders WHERE id = 2")).row_count == 1
    assert (await ask("SELECT id FROM notes")).rows == [{"id": 2}]


async def test_full_text_tables_can_be_searched(ask, sqlite_shop):
    connection = sqlite3.connect(sqlite_shop.folder / "shop.db")
    connection.executescript(
        "CREATE VIRTUAL TABLE texts USING fts5(body); INSERT INTO texts VALUES ('a red fox'), ('a blue bird')"
    )
    connection.close()
    assert (await ask("SELECT body FROM texts WHERE texts MATCH ?", ["fox"])).rows == [{"body": "a red fox"}]


async def test_a_database_in_wal_mode_is_read_and_written(ask, sqlite_shop):
    connection = sqlite3.connect(sqlite_shop.folder / "shop.db")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("INSERT INTO notes VALUES (5)")
    connection.commit()
    assert (await ask("SELECT id FROM notes")).rows == [{"id": 5}]
    assert (await ask("INSERT INTO notes VALUES (6)")).row_count == 1
    assert connection.execute("SELECT count(*) FROM notes").fetchall() == [(2,)]
    connection.close()


async def test_what_sqlite_cannot_interrupt_is_killed(ask):
    """A search in a text is one step of SQLite's machine, however long it takes."""
    sql = "SELECT instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')"
    started = time.monotonic()
    with pytest.raises(DatabaseTimeout):
        await ask(sql, timeout_s=0.5)
    assert time.monotonic() - started < 3


async def test_sorting_without_end_does_not_fill_the_disk(ask):
    sql = (
        "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n) "
        "SELECT x, randomblob(1000000) AS y FROM n ORDER BY y"
    )
    with pytest.raises((ResultTooLarge, DatabaseTimeout)):
        await ask(sql, timeout_s=20)


async def test_no_file_grows_without_bound(ask, sqlite_shop):
    connection = sqlite3.connect(sqlite_shop.folder / "shop.db")
    connection.execute("CREATE TABLE blobs (b)")
    connection.commit()
    connection.close()
    sql = (
        "INSERT INTO blobs WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 40) "
        "SELECT zeroblob(10000000) FROM n"
    )
    with pytest.raises(ResultTooLarge):
        await ask(sql, timeout_s=30)
    assert (await ask("SELECT count(*) AS n FROM blobs")).rows == [{"n": 0}]


async def test_a_killed_writer_leaves_nothing_behind_that_keeps_readers_out(ask, sqlite_shop):
    """The change is large enough to be in the file already when its process is killed in the middle."""
    sql = (
        "INSERT INTO notes WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n) "
        "SELECT instr(printf('%.*c', x * 2, 'a'), printf('%.*c', x, 'a') || 'b') FROM n"
    )
    with pytest.raises(DatabaseTimeout):
        await ask(sql, timeout_s=0.5)
    assert (await ask("SELECT count(*) AS n FROM notes")).rows == [{"n": 0}]
    shop = sqlite_shop.folder / "shop.db"
    journal = sqlite_shop.folder / "shop.db-journal"
    writer = "import sqlite3, sys, os; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA cache_size=1');"
    writer += (
        "c.executemany('INSERT INTO notes VALUES (?)', ((i,) for i in range(50000))); os.kill(os.getpid(), 9)"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", writer, str(shop))
    await process.wait()
    assert journal.exists()
    assert (await ask("SELECT count(*) AS n FROM notes")).rows == [{"n": 0}]
    assert not journal.exists()


async def test_bytes_and_broken_text_come_back_as_something(ask, sqlite_shop):
    rows = await ask("SELECT x'00ff' AS b, CAST(x'61ff' AS TEXT) AS t, 1e999 AS i, 9223372036854775807 AS n")
    assert rows.rows == [{"b": "AP8=", "t": "a\ufffd", "i": "inf", "n": 9223372036854775807}]


async def test_many_at_once_all_get_their_answers(ask):
    answers = await asyncio.gather(*(ask("SELECT ? AS n", [number]) for number in range(12)))
    assert [answer.rows for answer in answers] == [[{"n": number}] for number in range(12)]


async def test_a_number_too_large_to_bind_is_a_failure_of_the_statement(ask):
    with pytest.raises(DatabaseFailed) as caught:
        await ask("SELECT ?", [2**70])
    assert caught.value.code == "runtime_error"
