"""Statements that pass the check and ask for too much: time, rows and bytes are bounded on both sides."""

import asyncio
import contextlib
import os
import resource
import time
from pathlib import Path

import pytest

from retinue.adapters.databases import DatabaseTimeout, Query, ResultTooLarge, check, run
from tests.adapters.shop import connect_mysql, connect_postgresql, fingerprint

every_database = pytest.mark.parametrize("db_type", ["postgresql", "mysql", "sqlite"])

NUMBERS = "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 1000) "
BILLION_ROWS = f"{NUMBERS} SELECT count(*) FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c"
HUGE_CELL = {
    "postgresql": "SELECT repeat(repeat('x', 1000), 200000)",
    "mysql": "SELECT REPEAT('x', 15000000)",
    "sqlite": "SELECT hex(zeroblob(1000000000))",
}
FIVE_MEGABYTES = {
    "postgresql": "SELECT repeat('x', 5000000)",
    "mysql": "SELECT REPEAT('x', 5000000)",
    "sqlite": "SELECT printf('%.*c', 5000000, 'x')",
}


async def ask(egress, shop, sql, timeout_s=10.0, max_rows=10_000):
    query = (
        sql
        if isinstance(sql, Query)
        else check(sql, db_type=shop.db_type, allowed=("select", "insert", "delete"))
    )
    return await run(egress, shop.spec(), query, timeout_s=timeout_s, max_rows=max_rows)


def is_sqlite(pid: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return b"sqlite_child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


async def count_running(shop) -> int:
    """Return the number of our statements that the server is running."""
    if shop.db_type == "sqlite":
        children = [path.read_text().split() for path in Path(f"/proc/{os.getpid()}/task").glob("*/children")]
        return sum(is_sqlite(pid) for pids in children for pid in pids)
    if shop.db_type == "postgresql":
        boss = await connect_postgresql(shop)
        count = await boss.fetchval("SELECT count(*) FROM pg_stat_activity WHERE usename = 'plain'")
        await boss.close()
        return count
    boss = await connect_mysql(shop)
    cursor = await boss.cursor()
    await cursor.execute(
        "SELECT count(*) FROM information_schema.processlist WHERE user = 'plain' AND info IS NOT NULL"
    )
    [(count,)] = await cursor.fetchall()
    await cursor.close()
    boss.close()
    return count


async def wait_until_stopped(shop) -> bool:
    async with asyncio.timeout(5):
        while await count_running(shop):
            await asyncio.sleep(0)
    return True


@every_database
async def test_a_statement_without_end_is_stopped_at_the_server_too(shop, open_egress):
    started = time.monotonic()
    with pytest.raises(DatabaseTimeout) as caught:
        await ask(open_egress, shop, BILLION_ROWS, timeout_s=0.5)
    assert caught.value.code == "timeout"
    assert time.monotonic() - started < 3
    assert await wait_until_stopped(shop)


@every_database
async def test_who_stops_waiting_stops_the_statement(shop, open_egress):
    waiting = asyncio.create_task(ask(open_egress, shop, BILLION_ROWS, timeout_s=60))
    async with asyncio.timeout(10):
        while not await count_running(shop):
            await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await wait_until_stopped(shop)


@pytest.mark.parametrize(
    ("db_type", "sql"),
    [("postgresql", "SELECT pg_sleep(1000000000)"), ("mysql", "SELECT SLEEP(1000000000)")],
)
async def test_the_server_stops_a_statement_even_when_nobody_waits(shop, open_egress, db_type, sql):
    """The client's own limit is far away here, so what ends the statement is the server's."""
    if db_type == "postgresql":
        from retinue.adapters.databases.drivers import postgresql as driver
    else:
        from retinue.adapters.databases.drivers import mysql as driver
    query = Query(db_type, "select", (sql,))
    async with asyncio.timeout(10):
        try:
            await driver.run(open_egress, shop.spec(), query, timeout_s=0.2, max_rows=1)
        except DatabaseTimeout:
            pass
        else:
            # MariaDB's SLEEP gives 1 when it was interrupted.
            assert db_type == "mysql"
    assert await wait_until_stopped(shop)


@every_database
async def test_a_huge_cell_never_fills_our_memory(shop, open_egress):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ResultTooLarge) as caught:
        await ask(open_egress, shop, HUGE_CELL[shop.db_type])
    assert caught.value.code == "output_too_large"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert await wait_until_stopped(shop)


@pytest.mark.slow
@pytest.mark.parametrize("db_type", ["postgresql"])
async def test_a_cell_of_a_gigabyte_is_refused(shop, open_egress):
    with pytest.raises(ResultTooLarge):
        await ask(open_egress, shop, "SELECT repeat('x', 1000000000)", timeout_s=120)


@every_database
async def test_a_cell_above_the_result_limit_is_refused(shop, open_egress):
    with pytest.raises(ResultTooLarge):
        await ask(open_egress, shop, FIVE_MEGABYTES[shop.db_type])


@every_database
async def test_many_rows_count_together(shop, open_egress):
    cell = {
        "postgresql": "repeat('x', 2000)",
        "mysql": "REPEAT('x', 2000)",
        "sqlite": "printf('%.*c', 2000, 'x')",
    }
    sql = f"{NUMBERS} SELECT x, {cell[shop.db_type]} AS y FROM n"
    with pytest.raises(ResultTooLarge):
        await ask(open_egress, shop, sql)
    assert (await ask(open_egress, shop, sql, max_rows=400)).truncated


@every_database
async def test_only_the_wanted_rows_of_a_billion_are_sent(shop, open_egress):
    sql = f"{NUMBERS} SELECT a.x FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c"
    rows = await ask(open_egress, shop, sql, max_rows=20)
    assert (len(rows.rows), rows.truncated) == (20, True)
    assert await wait_until_stopped(shop)


@every_database
async def test_a_change_whose_answer_is_too_large_is_taken_back(shop, open_egress):
    before = await fingerprint(shop)
    wide = ", ".join(f"id AS column_{index}_{'x' * 40}" for index in range(60))
    sql = f"INSERT INTO notes {NUMBERS} SELECT x FROM n RETURNING {wide}"
    with pytest.raises(ResultTooLarge):
        await ask(open_egress, shop, sql)
    assert await fingerprint(shop) == before


@every_database
async def test_waiting_for_a_lock_ends_in_time(shop, open_egress):
    if shop.db_type == "sqlite":
        import sqlite3

        holder = sqlite3.connect(shop.folder / "shop.db", isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
    elif shop.db_type == "postgresql":
        holder = await connect_postgresql(shop)
        await holder.execute("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE")
    else:
        holder = await connect_mysql(shop)
        cursor = await holder.cursor()
        await cursor.execute("LOCK TABLES notes WRITE")
        await cursor.close()
    with pytest.raises(DatabaseTimeout):
        await ask(open_egress, shop, "INSERT INTO notes VALUES (1)", timeout_s=0.5)
    assert await wait_until_stopped(shop)
    closing = holder.close()
    if shop.db_type == "postgresql":
        await closing
