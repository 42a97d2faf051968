"""The corpus at real servers: nothing dangerous runs, and what is harmless gives what the server gives."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from retinue.adapters.databases import DatabaseFailed, Query, QueryNotAllowed, check, run
from retinue.adapters.databases.drivers.rows import build_rows
from tests.adapters.dangerous_sql import ATTRIBUTE_CALLS, DANGEROUS, WRITES
from tests.adapters.shop import connect_mysql, connect_postgresql, fingerprint
from tests.sampling import sample_cases

EVERYTHING = ("select", "insert", "update", "delete")
DB_TYPES = ("postgresql", "mysql", "sqlite")
every_database = pytest.mark.parametrize("db_type", DB_TYPES)


def dangerous(shop) -> list[str]:
    return [sql.replace("FOLDER", str(shop.folder)) for db_type, sql in DANGEROUS if db_type == shop.db_type]


def statements(name: str) -> list[str]:
    """Return the harmless statements of a file."""
    return (Path(__file__).with_name("harmless") / f"{name}.sql").read_text().strip().split("\n\n")


EVERYWHERE = statements("everywhere")
HARMLESS = [(db_type, sql) for db_type in DB_TYPES for sql in EVERYWHERE + statements(db_type)]
# `make test` tries the statements that every database reads on one of them.
IN_SHORT = [(db_type, sql) for db_type, sql in HARMLESS if sql not in EVERYWHERE or db_type == "postgresql"]


async def as_written(shop, sql):
    """The rows the server itself gives for a text, without anything of ours in between."""
    if shop.db_type == "sqlite":
        connection = sqlite3.connect(shop.folder / "shop.db")
        found = connection.execute(sql).fetchall()
        connection.close()
    elif shop.db_type == "postgresql":
        connection = await connect_postgresql(shop)
        found = [tuple(row) for row in await connection.fetch(sql)]
        await connection.close()
    else:
        connection = await connect_mysql(shop)
        cursor = await connection.cursor()
        await cursor.execute(sql)
        found = await cursor.fetchall()
        await cursor.close()
        connection.close()
    return values(build_rows([str(index) for index in range(len(found[0]) if found else 0)], found, 1000))


def values(rows):
    return [list(row.values()) for row in rows.rows]


@pytest.mark.parametrize(("db_type", "sql"), sample_cases(HARMLESS, keep=IN_SHORT))
async def test_a_harmless_statement_gives_what_the_server_gives_for_it(shop, open_egress, db_type, sql):
    query = check(sql, db_type=db_type, allowed=("select",))
    rows = await run(open_egress, shop.spec(), query, timeout_s=10, max_rows=1000)
    assert values(rows) == await as_written(shop, sql)


def test_the_corpus_is_as_large_as_it_claims():
    assert len(DANGEROUS) > 200
    assert len(set(DANGEROUS)) == len(DANGEROUS)
    assert len(HARMLESS) > 180


@every_database
@pytest.mark.parametrize("allowed", [EVERYTHING, ("select",)])
async def test_of_all_dangerous_statements_none_is_executed(shop, open_egress, allowed):
    before = await fingerprint(shop)
    statements = dangerous(shop) + (WRITES if allowed == ("select",) else [])
    executed = []
    for sql in statements:
        try:
            query = check(sql, db_type=shop.db_type, allowed=allowed)
            await run(open_egress, shop.spec(), query, timeout_s=1, max_rows=5)
        except QueryNotAllowed:
            continue
        executed.append(sql)
    assert executed == []
    assert await fingerprint(shop) == before


@pytest.mark.parametrize("db_type", ["postgresql"])
@pytest.mark.parametrize("sql", ATTRIBUTE_CALLS)
async def test_a_function_cannot_be_called_in_attribute_notation(shop, open_egress, db_type, sql):
    before = await fingerprint(shop)

    async def execute() -> None:
        query = check(sql, db_type=db_type, allowed=EVERYTHING)
        await run(open_egress, shop.spec(), query, timeout_s=1, max_rows=5)

    with pytest.raises(QueryNotAllowed):
        await execute()
    assert await fingerprint(shop) == before


@pytest.mark.parametrize("db_type", ["postgresql"])
async def test_the_attribute_calls_would_run_without_the_check(shop, open_egress, db_type):
    """Most of the corpus does call its function when sent as it is, so a refusal means something."""
    called = 0
    for sql in ATTRIBUTE_CALLS:
        try:
            await run(open_egress, shop.spec(), Query(db_type, "select", (sql,)), timeout_s=1, max_rows=5)
        except QueryNotAllowed as refusal:
            called += "would change data" in str(refusal)
        except DatabaseFailed as failure:
            called += "permission denied for function" in str(failure)
        else:
            called += 1
    assert called > len(ATTRIBUTE_CALLS) * 0.7


@every_database
async def test_without_the_guard_the_read_only_layers_still_keep_everything_as_it_was(shop, open_egress):
    before = await fingerprint(shop)
    a_few_at_once = asyncio.Semaphore(4)

    async def is_refused(sql: str) -> bool:
        query = Query(shop.db_type, "select", (sql,))
        async with a_few_at_once:
            try:
                await run(open_egress, shop.spec(), query, timeout_s=1, max_rows=5)
            except (QueryNotAllowed, DatabaseFailed):
                return True
            return False

    refused = await asyncio.gather(*(is_refused(sql) for sql in (*dangerous(shop), *WRITES)))
    assert sum(refused) > len(dangerous(shop)) / 2
    assert await fingerprint(shop) == before


@every_database
async def test_the_fingerprint_sees_a_changed_row(shop, open_egress):
    before = await fingerprint(shop)
    query = check("INSERT INTO notes VALUES (1)", db_type=shop.db_type, allowed=("insert",))
    assert (await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)).row_count == 1
    assert await fingerprint(shop) != before
    query = check("DELETE FROM notes WHERE id = 1", db_type=shop.db_type, allowed=("delete",))
    assert (await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)).row_count == 1


NASTY = [
    *(
        "'",
        "''",
        "\\",
        "\\\\",
        "\\'",
        "'\\",
        "\\''",
        "';--",
        "'/*",
        "*/",
        '"',
        "`",
        "%",
        "%s",
        "%%",
        "$1",
        "?",
    ),
    *(
        ":name",
        "{}",
        "\\0",
        "\\n",
        "\n",
        "\t",
        "\r\n",
        "\\%",
        "\\_",
        "\u2019",
        "\uff07",
        "\u02bc",
        "\u00bf'",
        "\ud7ff",
    ),
    *(
        "\\\u2019",
        "é\\",
        "縗'",
        "\x1a",
        "\x08",
        "\U0001d4b3'\\",
        "' OR 1=1 --",
        "\\'; DROP TABLE customers; --",
        "$$",
        "$x$",
        "E'\\''",
    ),
]


def literal(db_type: str, text: str) -> str:
    """Return the text as a correctly escaped literal of this database."""
    escaped = text.replace("\\", "\\\\") if db_type == "mysql" else text
    return "'" + escaped.replace("'", "''") + "'"


@every_database
async def test_no_text_leaves_its_quotes(shop, open_egress):
    before = await fingerprint(shop)
    written = ", ".join(f"{literal(shop.db_type, text)} AS c{index}" for index, text in enumerate(NASTY))
    query = check(f"SELECT {written}", db_type=shop.db_type, allowed=("select",))
    rows = await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)
    assert values(rows) == [NASTY]
    assert await fingerprint(shop) == before


@pytest.mark.parametrize("db_type", ["mysql"])
@pytest.mark.parametrize("quoted", [r"'\00\0'", r'"\00\0"', r"'\x00\0\0'", "'\\0'"])
async def test_a_literal_cannot_pass_for_a_parameter(shop, open_egress, db_type, quoted):
    """If the quoted text became a parameter, the value would be inside quotes and its text outside."""
    before = await fingerprint(shop)
    with pytest.raises(QueryNotAllowed):
        check(f"SELECT {quoted}, :a", {"a": ", version(), "}, db_type=db_type, allowed=("select",))
    assert await fingerprint(shop) == before


AS_TEXT = {"postgresql": "CAST({} AS text)", "mysql": "{}", "sqlite": "{}"}
ODD_HABITS = {
    "postgresql": ("ALTER ROLE plain SET standard_conforming_strings = off", "ALTER ROLE plain RESET ALL"),
    "mysql": (
        "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'",
        "SET GLOBAL sql_mode = DEFAULT",
    ),
}


@pytest.mark.parametrize("db_type", list(ODD_HABITS))
async def test_a_server_that_reads_quotes_in_its_own_way_is_asked_to_read_them_in_ours(
    shop, open_egress, db_type
):
    change, restore = ODD_HABITS[db_type]
    await as_boss(shop, change)
    try:
        written = ", ".join(f"{literal(db_type, text)} AS c{index}" for index, text in enumerate(NASTY))
        query = check(f"SELECT {written}", db_type=db_type, allowed=("select",))
        assert values(await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)) == [NASTY]
        marks = ", ".join(f"{AS_TEXT[db_type]} AS c{index}".format("?") for index in range(len(NASTY)))
        query = check(f"SELECT {marks}", NASTY, db_type=db_type, allowed=("select",))
        assert values(await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)) == [NASTY]
    finally:
        await as_boss(shop, restore)


async def as_boss(shop, sql: str) -> None:
    if shop.db_type == "postgresql":
        connection = await connect_postgresql(shop)
        await connection.execute(sql)
        await connection.close()
    else:
        connection = await connect_mysql(shop)
        cursor = await connection.cursor()
        await cursor.execute(sql)
        await cursor.close()
        connection.close()


@every_database
@pytest.mark.parametrize("style", ["?", "$", ":", "%s"])
async def test_no_bound_value_becomes_a_part_of_the_statement(shop, open_egress, style):
    text = AS_TEXT[shop.db_type]
    marks = {
        "?": "?",
        "%s": "%s",
        "$": "${number}",
        ":": ":p{number}",
    }[style]
    written = ", ".join(
        f"{text.format(marks.format(number=number))} AS c{number}" for number in range(1, len(NASTY) + 1)
    )
    params = {f"p{number}": value for number, value in enumerate(NASTY, 1)} if style == ":" else NASTY
    query = check(f"SELECT {written}", params, db_type=shop.db_type, allowed=("select",))
    rows = await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)
    assert values(rows) == [NASTY]
