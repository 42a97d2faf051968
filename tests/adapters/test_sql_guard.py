"""The check of a statement, without any database."""

import pytest

from retinue.adapters.databases import QueryNotAllowed, check
from retinue.adapters.databases.sql.guard import MAX_STATEMENT_LENGTH
from tests.adapters.dangerous_sql import DANGEROUS, WRITES

EVERYTHING = ("select", "insert", "update", "delete")
DB_TYPES = ("postgresql", "mysql", "sqlite")
every_database = pytest.mark.parametrize("db_type", DB_TYPES)


def refusal(sql, params=None, db_type="postgresql", allowed=EVERYTHING, **options) -> str:
    with pytest.raises(QueryNotAllowed) as caught:
        check(sql, params, db_type=db_type, allowed=allowed, **options)
    assert caught.value.code == "query_not_allowed"
    return caught.value.message


def sql_of(sql, params=None, db_type="postgresql", allowed=EVERYTHING):
    query = check(sql, params, db_type=db_type, allowed=allowed)
    return query.written(lambda index: f"<{query.arguments[index]!r}>")


@pytest.mark.parametrize(("db_type", "sql"), DANGEROUS)
def test_a_dangerous_statement_is_refused_whatever_is_allowed(db_type, sql):
    message = refusal(sql, db_type=db_type)
    assert len(message) <= 160
    assert message.endswith(".")


@every_database
@pytest.mark.parametrize("sql", WRITES)
def test_a_tool_that_may_read_cannot_write(db_type, sql):
    assert "not among the allowed operations" in refusal(sql, db_type=db_type, allowed=("select",))
    assert check(sql, db_type=db_type, allowed=EVERYTHING).operation != "select"


@every_database
@pytest.mark.parametrize("operation", EVERYTHING)
def test_each_operation_is_allowed_alone(db_type, operation):
    statements = {
        "select": "SELECT 1",
        "insert": "INSERT INTO notes (id) VALUES (1)",
        "update": "UPDATE notes SET id = 2",
        "delete": "DELETE FROM notes WHERE id = 2",
    }
    for kind, sql in statements.items():
        if kind == operation:
            assert check(sql, db_type=db_type, allowed=[operation]).operation == operation
        else:
            refusal(sql, db_type=db_type, allowed=[operation])


def test_an_insert_that_may_update_needs_both():
    upserts = {
        "postgresql": "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2",
        "sqlite": "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2",
        "mysql": "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2",
    }
    for db_type, sql in upserts.items():
        assert "may update rows" in refusal(sql, db_type=db_type, allowed=("insert",))
        assert check(sql, db_type=db_type, allowed=("insert", "update")).operation == "insert"
    nothing = "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO NOTHING"
    assert check(nothing, db_type="postgresql", allowed=("insert",)).operation == "insert"


def test_a_statement_must_be_the_operation_it_was_said_to_be():
    assert check("SELECT 1", db_type="sqlite", allowed=EVERYTHING, operation="select").is_read
    message = refusal("DELETE FROM t", operation="select")
    assert message == "The statement is DELETE, but the operation is select."


@every_database
def test_the_statement_is_written_anew_without_its_comments(db_type):
    sql = "/* one */ SELECT 1 -- two\n /* three */;"
    assert check(sql, db_type=db_type, allowed=EVERYTHING).texts == ("SELECT 1",)


@every_database
@pytest.mark.parametrize(
    "sql", ["", ";", ";;", "   ", "-- nothing", "/* nothing */", "hello", "SELECT 1 1", "("]
)
def test_what_is_no_statement_is_refused(db_type, sql):
    refusal(sql, db_type=db_type)


@every_database
def test_size_and_depth_are_bounded(db_type):
    assert "longer than" in refusal("SELECT '" + "x" * MAX_STATEMENT_LENGTH + "'", db_type=db_type)
    assert "too long" in refusal("SELECT " + "1+" * 4000 + "1", db_type=db_type)
    assert "nested too deeply" in refusal("SELECT " + "(" * 1000 + "1" + ")" * 1000, db_type=db_type)
    for costly in ("a" + "[1]" * 1200, "a" + "->'b'" * 900, "(a)->b" * 700):
        refused = refusal(f"SELECT {costly}", db_type=db_type)
        # In SQLite brackets quote names.
        assert "too long" in refused or (db_type == "sqlite" and "[1]" in costly)
    assert "1000 parameters" in refusal(f"SELECT {', '.join('?' * 1001)}", [1] * 1001, db_type=db_type)


@every_database
@pytest.mark.parametrize(
    "sql", ["SELECT \0", "SELECT 'a\0b'", 'SELECT "a\nb" FROM t', "SELECT `\x07`", "SELECT [a\x00]"]
)
def test_characters_no_name_may_have_are_refused(db_type, sql):
    if db_type == "mysql" and '"' in sql:
        assert sql_of(sql, db_type=db_type) == "SELECT 'a\nb' FROM `t`"
    else:
        refusal(sql, db_type=db_type)


def test_names_are_quoted_and_folded_as_each_database_would():
    sql = 'SELECT Name, "Mixed Case", t.X FROM Shop.Things AS t'
    assert sql_of(sql) == 'SELECT "name", "Mixed Case", "t"."x" FROM "shop"."things" AS "t"'
    assert sql_of("SELECT Ärger FROM t") == 'SELECT "Ärger" FROM "t"'
    assert sql_of(sql, db_type="sqlite") == "SELECT `Name`, `Mixed Case`, `t`.`X` FROM `Shop`.`Things` AS `t`"
    assert sql_of("SELECT `a``b` FROM t", db_type="mysql") == "SELECT `a``b` FROM `t`"


def test_reserved_words_stay_what_they_are():
    assert sql_of("UPDATE t SET a = DEFAULT, b = t.b") == 'UPDATE "t" SET "a" = DEFAULT, "b" = "t"."b"'
    assert sql_of('SELECT "default" FROM t') == 'SELECT "default" FROM "t"'
    assert sql_of("INSERT INTO t VALUES (DEFAULT)", db_type="mysql") == "INSERT INTO `t` VALUES (DEFAULT)"
    assert sql_of("SELECT 1 FROM dual", db_type="mysql") == "SELECT 1 FROM DUAL"
    assert sql_of("SELECT 1 FROM `dual`", db_type="mysql") == "SELECT 1 FROM `dual`"


@every_database
def test_a_parameter_cannot_be_a_table(db_type):
    assert "by its name" in refusal("SELECT * FROM :t", {"t": "customers"}, db_type)


def test_the_catalogue_shows_tables_and_columns_only():
    shown = "SELECT table_name FROM information_schema.{}"
    for db_type in ("postgresql", "mysql"):
        for table in ("tables", "COLUMNS", "key_column_usage"):
            assert check(shown.format(table), db_type=db_type, allowed=("select",)).is_read
        for table in ("routines", "user_privileges", "processlist", "views", "triggers"):
            assert "belongs to the server" in refusal(shown.format(table), db_type=db_type)
    assert check("SELECT * FROM sqlite_master", db_type="sqlite", allowed=("select",)).is_read
    assert "belongs to the server" in refusal(
        "INSERT INTO notes SELECT 1 FROM sqlite_master", db_type="sqlite"
    )
    assert check("SELECT * FROM public.pg_like_name", db_type="postgresql", allowed=("select",)).is_read


@pytest.mark.parametrize(
    ("sql", "params", "written"),
    [
        ("SELECT ?, ?", [1, "a"], "SELECT <1>, <'a'>"),
        ("SELECT %s, %s", [1, "a"], "SELECT <1>, <'a'>"),
        ("SELECT $2, $1, $2", [1, "a"], "SELECT <'a'>, <1>, <'a'>"),
        ("SELECT :b, :a, :b", {"a": 1, "b": None}, "SELECT <None>, <1>, <None>"),
        ("SELECT 1", None, "SELECT 1"),
        ("SELECT 1", [], "SELECT 1"),
        ("SELECT 1", {}, "SELECT 1"),
        ("SELECT '?', ':a', '$1', '%s'", [], "SELECT '?', ':a', '$1', '%s'"),
    ],
)
@every_database
def test_parameters_are_written_in_one_way_or_the_other(db_type, sql, params, written):
    assert sql_of(sql, params, db_type) == written


def test_question_marks_are_counted_as_they_stand_in_the_text():
    sql = "SELECT ? FROM (SELECT ? AS a) AS t WHERE a = ? GROUP BY a HAVING a > ? ORDER BY ? LIMIT ?, ?"
    written = sql_of(sql, [1, 2, 3, 4, 5, 6, 7], "mysql")
    assert written == (
        "SELECT <1> FROM (SELECT <2> AS `a`) AS `t` WHERE `a` = <3> GROUP BY `a` HAVING `a` > <4> "
        "ORDER BY <5> LIMIT <7> OFFSET <6>"
    )
    update = sql_of("UPDATE t SET a = ?, b = ? WHERE c = ?", [1, 2, 3])
    assert update == 'UPDATE "t" SET "a" = <1>, "b" = <2> WHERE "c" = <3>'


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT ?", []),
        ("SELECT ?", [1, 2]),
        ("SELECT ?", None),
        ("SELECT ?", {"a": 1}),
        ("SELECT :a", [1]),
        ("SELECT :a", {}),
        ("SELECT :a", {"b": 1}),
        ("SELECT :a", {"a": 1, "b": 2}),
        ("SELECT ?, :a", {"a": 1}),
        ("SELECT ?, $1", [1, 2]),
        ("SELECT $2", [1, 2]),
        ("SELECT $0", [1]),
        ("SELECT $1, $3", [1, 2, 3]),
        ("SELECT 1", [1]),
        ("SELECT 1", {"a": 1}),
        ("SELECT ?", "a"),
        ("SELECT ?", 5),
    ],
)
@every_database
def test_params_that_do_not_fit_the_statement_are_refused(db_type, sql, params):
    assert "param" in refusal(sql, params, db_type)
