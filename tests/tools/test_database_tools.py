"""`database` tools on a real PostgreSQL, a real MariaDB and an SQLite file."""

import pytest

from tests.adapters.foreign_databases import ADMIN, PASSWORD, PLAIN
from tests.adapters.shop import open_sqlite_shop
from tests.sampling import sample_cases

pytestmark = pytest.mark.either_database

ENGINES = pytest.mark.parametrize("db_type", ["postgresql", "mysql", "sqlite"])
SERVERS = pytest.mark.parametrize("db_type", ["postgresql", "mysql"])
LOGIN = {"auth_type": "basic", "auth_config": {"username": PLAIN, "password": PASSWORD}}


@pytest.fixture
def shop(request, service, tools, db_type):
    """The configuration and the login of a tool for the shop in one of the databases."""
    if db_type == "sqlite":
        folder = service.settings.data_dir / "databases" / tools.tenant_id
        folder.mkdir(parents=True)
        open_sqlite_shop(folder)
        return {"db_type": "sqlite", "database": "shop.db"}
    server = request.getfixturevalue(f"{db_type}_shop")
    return {"db_type": db_type, "host": "127.0.0.1", "port": server.port, "database": "shop", "ssl": False}


async def run(tools, shop, input, **config):
    more = {} if shop["db_type"] == "sqlite" else LOGIN
    return await tools.run("database", {**shop, **config}, input, **more)


@ENGINES
async def test_a_query_gives_rows_and_columns(tools, shop):
    done = await run(
        tools,
        shop,
        {
            "operation": "select",
            "query": "SELECT id, name FROM customers WHERE id < :n ORDER BY id",
            "params": {"n": 3},
        },
    )
    assert done["status"] == "completed", done
    assert done["output"] == {
        "rows": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}],
        "row_count": 2,
        "columns": ["id", "name"],
        "truncated": False,
    }


@ENGINES
async def test_a_table_can_be_asked_without_writing_sql(tools, shop):
    done = await run(tools, shop, {"table": "orders", "where": {"customer_id": 1, "status": "paid"}})
    assert [row["id"] for row in done["output"]["rows"]] == [1]
    done = await run(tools, shop, {"operation": "SELECT", "table": "orders", "where": {"id": [2, 3]}})
    assert done["output"]["row_count"] == 2


@ENGINES
async def test_only_reading_is_allowed_unless_the_tool_says_more(tools, shop):
    insert = {"operation": "insert", "table": "notes", "values": {"id": 5}}
    written = {"query": "INSERT INTO notes (id) VALUES (6)"}
    for input in (insert, written):
        assert (await run(tools, shop, input))["error"]["code"] == "query_not_allowed"
    for allowed in (["read"], ["SELECT"], ["update", "delete"], []):
        done = await run(tools, shop, insert, allowed_operations=allowed)
        assert done["error"]["code"] == "query_not_allowed"
    assert (await run(tools, shop, {"table": "notes"}))["output"]["rows"] == []


@ENGINES
async def test_what_is_allowed_is_done(tools, shop):
    write = {"allowed_operations": ["Write"]}
    try:
        done = await run(tools, shop, {"operation": "insert", "table": "notes", "values": {"id": 5}}, **write)
        assert done["output"]["row_count"] == 1
        done = await run(
            tools, shop, {"query": "UPDATE notes SET id = ? WHERE id = ?", "params": [7, 5]}, **write
        )
        assert done["output"]["row_count"] == 1
        assert (await run(tools, shop, {"table": "notes"}, **write))["error"]["code"] == "query_not_allowed"
        assert (await run(tools, shop, {"table": "notes"}))["output"]["rows"] == [{"id": 7}]
    finally:
        await run(tools, shop, {"operation": "delete", "table": "notes", "where": {"id": [5, 7]}}, **write)
    assert (await run(tools, shop, {"table": "notes"}))["output"]["rows"] == []


@ENGINES
async def test_the_operation_must_be_what_the_statement_is(tools, shop):
    input = {"operation": "select", "query": "DELETE FROM notes"}
    done = await run(tools, shop, input, allowed_operations=["read", "write"])
    assert done["error"]["code"] == "query_not_allowed"


DANGEROUS = [
    "SELECT 1; DROP TABLE customers",
    "DROP TABLE customers",
    "WITH x AS (DELETE FROM notes RETURNING id) SELECT * FROM x",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT load_file('/etc/passwd')",
    "SELECT load_extension('x')",
    "COPY customers TO PROGRAM 'id'",
    "ATTACH DATABASE '/etc/passwd' AS x",
    "SELECT /*!50000 1 FROM mysql.user */",
    "PRAGMA writable_schema = 1",
    "SET ROLE postgres",
]
IN_SHORT = [
    "SELECT 1; DROP TABLE customers",
    "WITH x AS (DELETE FROM notes RETURNING id) SELECT * FROM x",
    "SELECT pg_read_file('/etc/passwd')",
]


@ENGINES
@pytest.mark.parametrize("query", sample_cases(DANGEROUS, keep=IN_SHORT))
async def test_a_dangerous_statement_is_refused(tools, shop, query):
    done = await run(tools, shop, {"query": query}, allowed_operations=["read", "write"])
    assert done["error"]["code"] == "query_not_allowed"
    assert (await run(tools, shop, {"table": "customers"}))["output"]["row_count"] == 3


@ENGINES
async def test_rows_beyond_the_limit_are_cut(tools, shop):
    done = await run(tools, shop, {"table": "customers"}, max_rows=2)
    assert (done["output"]["row_count"], done["output"]["truncated"]) == (2, True)
    done = await run(tools, shop, {"table": "customers"}, max_rows=3)
    assert (done["output"]["row_count"], done["output"]["truncated"]) == (3, False)


@pytest.mark.parametrize("db_type", ["postgresql"])
async def test_nobody_gets_more_than_ten_thousand_rows(tools, shop):
    query = {"query": "SELECT n FROM generate_series(1, 10002) AS t(n)"}
    done = await run(tools, shop, query)
    assert (done["output"]["row_count"], done["output"]["truncated"]) == (1000, True)
    done = await run(tools, shop, query, max_rows=1_000_000)
    assert (done["output"]["row_count"], done["output"]["truncated"]) == (10_000, True)


@ENGINES
@pytest.mark.parametrize(
    ("input", "field"),
    [
        ({}, "input.query"),
        ({"operation": "select"}, "input.query"),
        ({"query": ["SELECT 1"]}, "input.query"),
        ({"operation": 5, "query": "SELECT 1"}, "input.operation"),
    ],
)
async def test_input_that_is_no_query_is_refused(tools, shop, input, field):
    more = {} if shop["db_type"] == "sqlite" else LOGIN
    assert list(await tools.refused("database", shop, input, **more)) == [field]


@ENGINES
async def test_what_the_database_says_is_told(tools, shop):
    done = await run(tools, shop, {"query": "SELECT nothing FROM customers"})
    assert (done["status"], done["error"]["code"]) == ("failed", "runtime_error")
    assert "nothing" in done["error"]["message"]


@ENGINES
async def test_a_query_that_takes_too_long_ends_in_a_timeout(tools, shop):
    tables = ", ".join(f"customers AS c{number}" for number in range(24))
    endless = f"SELECT count(*) FROM {tables}"
    done = await run(tools, shop, {"query": endless}, timeout_ms=300)
    assert (done["status"], done["error"]["code"]) == ("timeout", "timeout")


@SERVERS
async def test_a_wrong_password_is_an_auth_error_without_the_password(tools, shop):
    login = {"auth_type": "basic", "auth_config": {"username": PLAIN, "password": "wrong-4711-password"}}
    done = await tools.run("database", shop, {"query": "SELECT 1"}, **login)
    assert (done["status"], done["error"]["code"]) == ("failed", "auth_error")
    assert "wrong-4711-password" not in str(done)


@SERVERS
async def test_a_login_that_may_do_everything_is_refused(tools, shop):
    login = {"auth_type": "basic", "auth_config": {"username": ADMIN, "password": PASSWORD}}
    done = await tools.run("database", shop, {"query": "SELECT 1"}, **login)
    assert done["error"]["code"] == "auth_error"
    assert "superuser" in done["error"]["message"]


@SERVERS
async def test_a_server_that_is_not_there_is_a_network_error(tools, shop):
    done = await run(tools, shop, {"query": "SELECT 1"}, host="127.0.0.9", port=1)
    assert done["error"]["code"] == "network_error"


@SERVERS
@pytest.mark.parametrize("host", ["/var/run/postgresql", "127.0.0.1 port=1", "a,b", "x?host=/tmp", ""])
async def test_a_host_is_a_host_and_nothing_else(tools, shop, host):
    done = await run(tools, shop, {"query": "SELECT 1"}, host=host)
    assert done["error"]["code"] in {"ssrf_blocked", "not_configured"}


@SERVERS
async def test_a_database_credential_brings_server_and_login(tools, shop):
    secrets = {"host": shop["host"], "port": shop["port"], "username": PLAIN, "password": PASSWORD}
    credential = await tools.credential("database", secrets | {"database": "shop", "ssl_mode": "require"})
    attached = {"auth_type": "custom", "auth_config": {"credential_id": credential}}
    query = {"query": "SELECT count(*) AS n FROM orders"}
    for config in ({"db_type": shop["db_type"]}, shop):
        done = await tools.run("database", config, query, **attached)
        assert done["status"] == "completed", done
        assert done["output"]["rows"] == [{"n": 3}]
    done = await tools.run("database", {"db_type": shop["db_type"], "port": 1}, query, **attached)
    assert done["status"] == "completed"


@SERVERS
async def test_only_a_database_credential_says_where_its_server_is(tools, shop):
    """Somebody who may write a custom credential could change its host and get the password."""
    secrets = {"host": shop["host"], "port": shop["port"], "username": PLAIN, "password": PASSWORD}
    credential = await tools.credential("custom", secrets)
    attached = {"auth_type": "custom", "auth_config": {"credential_id": credential}}
    query = {"query": "SELECT count(*) AS n FROM orders"}
    done = await tools.run("database", shop, query, **attached)
    assert done["output"]["rows"] == [{"n": 3}]
    done = await tools.run("database", {"db_type": shop["db_type"], "database": "shop"}, query, **attached)
    assert (done["status"], done["error"]["code"]) == ("failed", "not_configured")


@pytest.mark.parametrize(
    "name",
    ["../../retinue.db", "/etc/passwd", "..", ".", "", "missing.db", "shop.db?mode=rwc", "file:shop.db"],
)
@pytest.mark.parametrize("db_type", ["sqlite"])
async def test_an_sqlite_file_lies_in_the_folder_of_the_tenant(tools, shop, name):
    done = await run(tools, shop, {"query": "SELECT 1 AS one"}, database=name)
    assert (done["status"], done["error"]["code"]) == ("failed", "not_configured")


@pytest.mark.parametrize("db_type", ["sqlite"])
async def test_a_link_out_of_the_folder_is_not_followed(tools, shop, service):
    folder = service.settings.data_dir / "databases" / tools.tenant_id
    (folder / "link.db").symlink_to(service.settings.data_dir / "retinue.db")
    done = await run(tools, shop, {"query": "SELECT 1 AS one"}, database="link.db")
    assert (done["status"], done["error"]["code"]) == ("failed", "not_configured")


async def test_another_kind_of_database_is_not_configured(tools):
    done = await tools.execute(
        await tools.make_unchecked("database", {"db_type": "oracle"}), {"query": "SELECT 1"}
    )
    assert done["error"]["code"] == "not_configured"
    done = await tools.execute(await tools.make_unchecked("database", {}), {"query": "SELECT 1"})
    assert done["error"] == {"code": "not_configured", "message": "config.db_type is required."}
