"""Tests of results and values that are exchanged with foreign databases."""

import datetime as dt
import decimal
import uuid

import msgspec
import pytest

from retinue.adapters.databases import (
    DatabaseNotConfigured,
    Query,
    QueryFailed,
    QueryNotAllowed,
    check,
    ping,
    run,
    tls_mode,
)
from retinue.adapters.databases.connection import find_db_type
from retinue.adapters.databases.drivers.rows import to_json_value
from tests.adapters.foreign_databases import PASSWORD

EVERYTHING = ("select", "insert", "update", "delete")
every_database = pytest.mark.parametrize("db_type", ["postgresql", "mysql", "sqlite"])


@pytest.fixture
def ask(shop, open_egress):
    async def answer(sql, params=None, max_rows=100):
        query = (
            sql if isinstance(sql, Query) else check(sql, params, db_type=shop.db_type, allowed=EVERYTHING)
        )
        return await run(open_egress, shop.spec(), query, timeout_s=10, max_rows=max_rows)

    return answer


@every_database
async def test_a_ping_connects_and_logs_in(shop, open_egress):
    await ping(open_egress, shop.spec(), timeout_s=5)


@every_database
async def test_rows_are_objects_by_column(ask):
    rows = await ask("SELECT id, name, balance, email FROM customers ORDER BY id")
    assert rows.columns == ["id", "name", "balance", "email"]
    assert rows.rows[0] == {"id": 1, "name": "Ada", "balance": 120.5, "email": "ada@example.org"}
    assert rows.rows[2] == {"id": 3, "name": "100% Çelik", "balance": None, "email": None}
    assert (rows.row_count, rows.truncated) == (3, False)


@every_database
async def test_columns_of_the_same_name_stay_apart(ask):
    rows = await ask(
        "SELECT c.id, o.id, o.id FROM customers c JOIN orders o ON o.customer_id = c.id ORDER BY o.id"
    )
    assert rows.columns == ["id", "id_2", "id_3"]
    assert rows.rows[2] == {"id": 2, "id_2": 3, "id_3": 3}


@every_database
async def test_an_expression_is_named_without_our_quotes(ask, db_type):
    rows = await ask("SELECT COUNT(id) FROM customers")
    assert rows.columns == (["count"] if db_type == "postgresql" else ["COUNT(id)"])


@every_database
async def test_more_rows_than_wanted_are_cut(ask):
    for wanted, truncated in ((1, True), (2, True), (3, False), (4, False)):
        rows = await ask("SELECT id FROM customers ORDER BY id", max_rows=wanted)
        assert [row["id"] for row in rows.rows] == [1, 2, 3][:wanted]
        assert (rows.row_count, rows.truncated) == (min(wanted, 3), truncated)


@every_database
async def test_a_result_without_rows_still_has_columns(ask):
    rows = await ask("SELECT id, name FROM customers WHERE id = 99")
    assert (rows.columns, rows.rows, rows.row_count) == (["id", "name"], [], 0)


@every_database
async def test_changes_are_counted_and_kept(ask):
    assert (await ask("INSERT INTO notes VALUES (?), (?)", [1, 2])).row_count == 2
    assert (await ask("UPDATE notes SET id = id + 10")).row_count == 2
    assert (await ask("UPDATE notes SET id = 0 WHERE id = 99")).row_count == 0
    assert (await ask("SELECT id FROM notes ORDER BY id")).rows == [{"id": 11}, {"id": 12}]
    assert (await ask("DELETE FROM notes")).row_count == 2


@every_database
async def test_a_change_can_return_rows(ask):
    inserted = await ask("INSERT INTO notes VALUES (1), (2), (3) RETURNING id", max_rows=2)
    assert (inserted.rows, inserted.row_count, inserted.truncated) == ([{"id": 1}, {"id": 2}], 3, True)
    removed = await ask("DELETE FROM notes RETURNING id")
    assert removed.row_count == 3
    assert (await ask("SELECT count(*) AS n FROM notes")).rows == [{"n": 0}]


@every_database
async def test_a_change_that_fails_half_way_changes_nothing(ask):
    with pytest.raises(QueryFailed):
        await ask("INSERT INTO orders (id, status) VALUES (50, 'x'), (1, 'taken')")
    assert (await ask("SELECT id FROM orders WHERE id = 50")).rows == []


@every_database
async def test_the_servers_own_words_explain_a_failure(ask):
    with pytest.raises(QueryFailed, match=r"reported: .*missing_column") as caught:
        await ask("SELECT missing_column FROM customers")
    assert caught.value.code == "runtime_error"
    assert PASSWORD not in caught.value.message
    with pytest.raises(QueryFailed, match="reported"):
        await ask("INSERT INTO orders (id) VALUES (1)")


@every_database
async def test_a_statement_that_only_says_it_reads_cannot_write(shop, open_egress):
    query = Query(shop.db_type, "select", ("INSERT INTO notes VALUES (1)",))
    with pytest.raises(QueryNotAllowed):
        await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)


@every_database
async def test_a_statement_for_another_kind_of_database_is_a_mistake(shop, open_egress):
    other = "mysql" if shop.db_type == "postgresql" else "postgresql"
    query = check("SELECT 1", db_type=other, allowed=("select",))
    with pytest.raises(ValueError, match="another type"):
        await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=5)


@every_database
async def test_values_of_json_can_be_bound(ask, db_type):
    columns = {
        "postgresql": "CAST(:i AS int) AS i, CAST(:f AS float8) AS f, CAST(:t AS bool) AS t, "
        "CAST(:n AS text) AS n, CAST(:j AS jsonb) AS j, CAST(:s AS text) AS s",
    }.get(db_type, ":i AS i, :f AS f, :t AS t, :n AS n, :j AS j, :s AS s")
    given = {"i": 7, "f": 1.25, "t": True, "n": None, "j": {"a": [1, "é"]}, "s": "it's"}
    [row] = (await ask(f"SELECT {columns}", given)).rows
    assert (row["i"], row["f"], row["t"], row["n"], row["s"]) == (7, 1.25, True, None, "it's")
    assert (row["j"] if db_type == "postgresql" else msgspec.json.decode(row["j"])) == given["j"]


@pytest.mark.parametrize("db_type", ["postgresql"])
async def test_postgresql_gets_what_its_types_need(ask):
    kinds = {
        "date": ("2024-02-29", "2024-02-29"),
        "time": ("10:30:00", "10:30:00"),
        "timestamp": ("2024-02-29T10:30:00", "2024-02-29T10:30:00"),
        "timestamptz": ("2024-02-29T10:30:00+02:00", "2024-02-29T08:30:00.000000Z"),
        "uuid": ("00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000a"),
        "numeric": ("12345678901234567890.5", "12345678901234567890.5"),
        "int8": ("42", 42),
        "bytea": ("aGk=", "aGk="),
        "interval": (90, "P0DT90S"),
        "json": ('{"a": 1}', {"a": 1}),
        "jsonb": ([1, None], [1, None]),
        "text": (5, "5"),
        "inet": ("10.0.0.1", "10.0.0.1"),
    }
    for kind, (given, expected) in kinds.items():
        query = Query("postgresql", "select", ("SELECT CAST(", f" AS {kind}) AS v"), (0,), (given,))
        assert (await ask(query)).rows == [{"v": expected}], kind
    arrays = await ask("SELECT id FROM customers WHERE id = ANY(:ids) ORDER BY id", {"ids": [1, 3]})
    assert [row["id"] for row in arrays.rows] == [1, 3]


@pytest.mark.parametrize("db_type", ["postgresql"])
@pytest.mark.parametrize(
    ("column", "value"),
    [("born", "yesterday"), ("id", "x"), ("id", 1.5), ("id", True), ("balance", "y"), ("is_active", "true")],
)
async def test_a_value_that_does_not_fit_is_refused_by_name_of_its_type(ask, column, value):
    with pytest.raises(QueryFailed, match=r"A parameter.s value does not match its type"):
        await ask(f"SELECT id FROM customers WHERE {column} = :v", {"v": value})


@pytest.mark.parametrize("db_type", ["postgresql"])
async def test_numbers_too_large_for_python_leave_json_as_text(ask):
    rows = await ask("SELECT CAST('{\"a\": 1e400}' AS json) AS j, CAST('[1, 2]' AS json) AS k")
    assert rows.rows == [{"j": '{"a": 1e400}', "k": [1, 2]}]


@pytest.mark.parametrize("db_type", ["mysql"])
async def test_mysql_gives_its_own_types_too(ask):
    answer = await ask(
        "SELECT joined, born, CAST('-26:30:00' AS TIME) AS t, YEAR(joined) AS y, x'00ff' AS b, tags, "
        "is_active, CAST('12345678901234567890.123' AS DECIMAL(30, 3)) AS d, 18446744073709551615 AS u "
        "FROM customers WHERE id = 1"
    )
    [row] = answer.rows
    assert (row["joined"], row["born"], row["t"]) == ("2024-01-31T10:00:00", "1815-12-10", "-26:30:00")
    assert (row["b"], row["d"], row["u"]) == ("AP8=", "12345678901234567890.123", 18446744073709551615)
    assert (msgspec.json.decode(row["tags"])["color"], row["is_active"], row["y"]) == ("red", 1, 2024)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (decimal.Decimal("10.50"), 10.5),
        (decimal.Decimal("0.1"), 0.1),
        (decimal.Decimal(7), 7),
        (decimal.Decimal("1E+3"), 1000),
        (decimal.Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (decimal.Decimal(9007199254740993), "9007199254740993"),
        (decimal.Decimal("NaN"), "NaN"),
        (float("inf"), "inf"),
        (2**70, str(2**70)),
        (-(2**63), -(2**63)),
        (
            dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.timezone(dt.timedelta(hours=1))),
            "2024-01-02T02:04:05.000000Z",
        ),
        (dt.datetime.fromisoformat("2024-01-02T03:04:05"), "2024-01-02T03:04:05"),
        (dt.date(2024, 1, 2), "2024-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(days=1, seconds=3600, milliseconds=500), "P1DT3600.5S"),
        (dt.timedelta(days=100), "P100DT0S"),
        (b"\x00\xff", "AP8="),
        (memoryview(b"hi"), "aGk="),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ([decimal.Decimal("1.5"), {"a": b"x"}], [1.5, {"a": "eA=="}]),
        ((1, (2,)), [1, [2]]),
        (None, None),
        (True, True),
    ],
)
def test_every_value_becomes_json(value, expected):
    assert to_json_value(value) == expected
    assert type(to_json_value(value)) is type(expected)
    assert msgspec.json.decode(msgspec.json.encode(to_json_value(value))) == expected


def test_names_of_databases_and_of_tls_modes_have_their_usual_synonyms():
    assert [
        find_db_type(name) for name in ("postgres", "PostgreSQL", "MariaDB", "mysql", "sqlite", "oracle")
    ] == [*("postgresql", "postgresql", "mysql", "mysql", "sqlite", None)]
    assert (tls_mode(), tls_mode(ssl=True), tls_mode(ssl=False)) == ("prefer", "verify-full", "disable")
    assert tls_mode(ssl=False, ssl_mode="VERIFY_IDENTITY") == "verify-full"
    assert [tls_mode(ssl_mode=name) for name in ("REQUIRED", "verify_ca", "Disable")] == [
        "require",
        "verify-ca",
        "disable",
    ]
    with pytest.raises(DatabaseNotConfigured, match="ssl_mode must be one of"):
        tls_mode(ssl_mode="always")
