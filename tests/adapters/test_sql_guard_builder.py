"""Statements from a table's name, conditions and values."""

import pytest

from retinue.adapters.databases import QueryNotAllowed, build, run

EVERYTHING = ("select", "insert", "update", "delete")
every_database = pytest.mark.parametrize("db_type", ["postgresql", "mysql", "sqlite"])


def built(db_type="postgresql", allowed=EVERYTHING, **given):
    query = build(db_type=db_type, allowed=allowed, **given)
    return query.written(lambda index: f"<{query.arguments[index]!r}>")


def test_each_operation_has_its_statement():
    assert built(operation="select", table="t") == 'SELECT * FROM "t"'
    assert (
        built(operation="select", table="shop.T", where={"a": 1})
        == 'SELECT * FROM "shop"."T" WHERE "a" = <1>'
    )
    inserted = built(operation="insert", table="t", values={"a": 1, "b": None})
    assert inserted == 'INSERT INTO "t" ("a", "b") VALUES (<1>, <None>)'
    several = built("mysql", operation="insert", table="t", values=[{"a": 1, "b": 2}, {"b": 4, "a": 3}])
    assert several == "INSERT INTO `t` (`a`, `b`) VALUES (<1>, <2>), (<3>, <4>)"
    updated = built(operation="update", table="t", where={"id": 7}, values={"a": 1})
    assert updated == 'UPDATE "t" SET "a" = <1> WHERE "id" = <7>'
    assert (
        built("sqlite", operation="delete", table="t", where={"id": 7}) == "DELETE FROM `t` WHERE `id` = <7>"
    )


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        (1, '"a" = <1>'),
        ("x", "\"a\" = <'x'>"),
        (None, '"a" IS NULL'),
        ([1, 2], '"a" IN (<1>, <2>)'),
        ([], "1 = 0"),
        ({"eq": 1}, '"a" = <1>'),
        ({"eq": None}, '"a" IS NULL'),
        ({"ne": 1}, '"a" <> <1>'),
        ({"!=": None}, 'NOT "a" IS NULL'),
        ({">=": 1, "<": 5}, '"a" >= <1> AND "a" < <5>'),
        ({"GT": 1}, '"a" > <1>'),
        ({"lte": 1}, '"a" <= <1>'),
        ({"like": "%x%"}, "\"a\" LIKE <'%x%'>"),
        ({"in": [1]}, '"a" IN (<1>)'),
        ({"not in": [1, 2]}, 'NOT "a" IN (<1>, <2>)'),
        ({"is_null": True}, '"a" IS NULL'),
        ({"is_null": False}, 'NOT "a" IS NULL'),
    ],
)
def test_conditions_come_from_a_small_closed_set(condition, written):
    sql = built(operation="select", table="t", where={"a": condition})
    assert sql.replace('"a" IS NOT NULL', 'NOT "a" IS NULL').replace('"a" NOT IN', 'NOT "a" IN') == (
        f'SELECT * FROM "t" WHERE {written}'
    )


@pytest.mark.parametrize(
    "given",
    [
        {"operation": "delete"},
        {"operation": "delete", "where": {}},
        {"operation": "delete", "where": {"a": {}}},
        {"operation": "delete", "where": {"a": {"not_in": []}}},
        {"operation": "update", "values": {"a": 1}},
        {"operation": "update", "values": {"a": 1}, "where": None},
        {"operation": "update", "where": {"a": 1}},
        {"operation": "update", "where": {"a": 1}, "values": {}},
        {"operation": "update", "where": {"a": 1}, "values": [1]},
        {"operation": "insert"},
        {"operation": "insert", "values": []},
        {"operation": "insert", "values": {}},
        {"operation": "insert", "values": [{"a": 1}, {"b": 1}]},
        {"operation": "insert", "values": [{"a": 1}, 2]},
        {"operation": "select", "where": [1]},
        {"operation": "select", "where": {"a": {"regexp": "x"}}},
        {"operation": "select", "where": {"a": {"in": 1}}},
        {"operation": "select", "where": {"": 1}},
        {"operation": "select", "where": {"a\n": 1}},
        {"operation": "drop"},
        {"operation": "select", "table": ""},
        {"operation": "select", "table": None},
        {"operation": "select", "table": 5},
        {"operation": "select", "table": "a.b.c"},
        {"operation": "select", "table": "a..b"},
        {"operation": "select", "table": "t\0"},
        {"operation": "select", "table": "x" * 129},
    ],
)
@every_database
def test_what_could_mean_too_much_is_refused(db_type, given):
    with pytest.raises(QueryNotAllowed):
        build(**{"db_type": db_type, "allowed": EVERYTHING, "table": "t", **given})


@pytest.mark.parametrize(
    ("db_type", "table"),
    [
        ("postgresql", "pg_shadow"),
        ("postgresql", "pg_catalog.pg_authid"),
        ("mysql", "mysql.user"),
        ("mysql", "performance_schema.threads"),
        ("sqlite", "pragma_database_list"),
    ],
)
def test_the_servers_own_tables_are_refused_here_too(db_type, table):
    with pytest.raises(QueryNotAllowed, match="belongs to the server"):
        build(db_type=db_type, allowed=EVERYTHING, operation="select", table=table)


@every_database
def test_an_operation_that_is_not_allowed_is_refused(db_type):
    for operation in ("insert", "update", "delete"):
        with pytest.raises(QueryNotAllowed, match="not among the allowed"):
            build(
                db_type=db_type,
                allowed=("select",),
                operation=operation,
                table="t",
                where={"a": 1},
                values={"a": 1},
            )


@every_database
async def test_built_statements_do_what_they_say(shop, open_egress, db_type):
    async def do(operation, **given):
        query = build(db_type=db_type, allowed=EVERYTHING, operation=operation, table="notes", **given)
        return await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=10)

    assert (await do("insert", values=[{"id": 1}, {"id": 2}, {"id": 3}])).row_count == 3
    assert (await do("select", where={"id": {"gte": 2}})).rows == [{"id": 2}, {"id": 3}]
    assert (await do("update", where={"id": [1, 2]}, values={"id": 9})).row_count == 2
    assert (await do("select", where={"id": {"ne": 9}})).rows == [{"id": 3}]
    assert (await do("delete", where={"id": {"in": [3, 9]}})).row_count == 3
    assert (await do("select")).rows == []


@every_database
async def test_a_name_cannot_leave_its_quotes(shop, open_egress, db_type):
    for name in (
        't"; DROP TABLE notes; --',
        "t`; DROP TABLE notes; --",
        "t' OR 1=1",
        "t\\",
        "notes WHERE 1=1",
    ):
        query = build(db_type=db_type, allowed=EVERYTHING, operation="delete", table=name, where={name: 1})
        with pytest.raises(Exception, match="reported") as caught:
            await run(open_egress, shop.spec(), query, timeout_s=5, max_rows=10)
        assert caught.value.code == "runtime_error"
