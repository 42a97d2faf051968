"""Tests of logins to foreign databases: passwords, roles, addresses and encryption."""

import pytest

from retinue.adapters.databases import (
    DatabaseLoginRefused,
    DatabaseLoginTooPowerful,
    DatabaseNotConfigured,
    DatabaseUnreachable,
    Query,
    check,
    ping,
    run,
)
from retinue.kit.egress import Egress, EgressFailed, EgressRefused
from retinue.kit.secrets import Secret
from tests.adapters.foreign_databases import ADMIN, FILE_READER, NAME, PASSWORD
from tests.adapters.hostile_servers import without_tls
from tests.adapters.shop import connect_mysql, connect_postgresql
from tests.kit.egress_listener import ScriptedResolver, listening, listening_at_both
from tests.kit.egress_targets import REFUSED_HOSTS

servers = pytest.mark.parametrize("db_type", ["postgresql", "mysql"])
IS_ENCRYPTED = {
    "postgresql": "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    "mysql": "SELECT variable_value <> '' FROM information_schema.session_status "
    "WHERE variable_name = 'Ssl_cipher'",
}


async def ask(egress, spec, sql="SELECT 1 AS one"):
    query = check(sql, db_type=spec.db_type, allowed=("select",))
    return await run(egress, spec, query, timeout_s=5, max_rows=5)


async def is_encrypted(egress, spec) -> bool:
    query = Query(spec.db_type, "select", (IS_ENCRYPTED[spec.db_type],))
    [row] = (await run(egress, spec, query, timeout_s=5, max_rows=5)).rows
    return bool(*row.values())


@servers
async def test_a_wrong_password_is_a_refused_login(shop, open_egress):
    for wrong in ("wrong-password", "", PASSWORD + "x"):
        spec = shop.spec(password=Secret(wrong))
        for attempt in (ping(open_egress, spec, timeout_s=5), ask(open_egress, spec)):
            with pytest.raises(DatabaseLoginRefused) as caught:
                await attempt
            assert (caught.value.code, caught.value.message) == (
                "auth_error",
                "The database server rejected the login. Check the username and the password.",
            )
            assert caught.value.__cause__ is None


@servers
async def test_an_unknown_user_or_database_is_told_apart_from_a_dead_server(shop, open_egress):
    with pytest.raises(DatabaseLoginRefused):
        await ping(open_egress, shop.spec(username="nobody"), timeout_s=5)
    with pytest.raises((DatabaseNotConfigured, DatabaseLoginRefused)):
        await ping(open_egress, shop.spec(database="nowhere"), timeout_s=5)
    with pytest.raises(DatabaseNotConfigured, match="does not exist"):
        await ping(open_egress, shop.spec(username=ADMIN, database="nowhere"), timeout_s=5)
    async with listening() as canary:
        port = canary.port
    with pytest.raises(DatabaseUnreachable) as caught:
        await ping(open_egress, shop.spec(port=port), timeout_s=5)
    assert caught.value.code == "network_error"


@servers
@pytest.mark.parametrize("username", [ADMIN, FILE_READER])
async def test_a_login_that_could_read_the_servers_files_is_refused_for_statements(
    shop, open_egress, username
):
    spec = shop.spec(username=username)
    with pytest.raises(DatabaseLoginTooPowerful) as caught:
        await ask(open_egress, spec)
    assert caught.value.code == "auth_error"
    await ping(open_egress, spec, timeout_s=5)


@pytest.mark.parametrize("db_type", ["postgresql"])
async def test_a_superuser_in_disguise_is_still_refused(shop, open_egress):
    boss = await connect_postgresql(shop)
    await boss.execute(
        "CREATE ROLE masked LOGIN SUPERUSER PASSWORD 'masked'; ALTER ROLE masked SET role = 'plain'"
    )
    with pytest.raises(DatabaseLoginTooPowerful):
        await ask(open_egress, shop.spec(username="masked", password=Secret("masked")))
    await boss.execute("DROP ROLE masked")
    await boss.close()


@pytest.mark.parametrize("db_type", ["mysql"])
async def test_a_role_that_brings_the_file_right_is_refused(shop, open_egress):
    boss = await connect_mysql(shop)
    cursor = await boss.cursor()
    for sql in (
        *("CREATE ROLE filer", "GRANT FILE ON *.* TO filer", "CREATE USER masked@'%' IDENTIFIED BY 'masked'"),
        *(
            "GRANT SELECT ON shop.* TO masked@'%'",
            "GRANT filer TO masked@'%'",
            "SET DEFAULT ROLE filer FOR masked@'%'",
        ),
    ):
        await cursor.execute(sql)
    with pytest.raises(DatabaseLoginTooPowerful):
        await ask(open_egress, shop.spec(username="masked", password=Secret("masked")))
    await cursor.execute("DROP USER masked@'%'")
    await cursor.execute("DROP ROLE filer")
    await cursor.close()
    boss.close()


@pytest.mark.parametrize("db_type", ["mysql"])
async def test_the_servers_own_database_is_no_place_to_work_in(shop, open_egress):
    for name in ("mysql", "MYSQL", "information_schema", "performance_schema", "sys"):
        with pytest.raises(DatabaseNotConfigured, match="system database of the server"):
            await ask(open_egress, shop.spec(database=name))


@servers
@pytest.mark.parametrize(
    "changed",
    [
        {"host": ""},
        {"username": ""},
        {"port": 65536},
        {"port": -1},
        {"tls": "verify-full", "ca_certificates": "x"},
    ],
)
async def test_an_incomplete_connection_is_reported_as_such(shop, open_egress, changed):
    with pytest.raises(DatabaseNotConfigured) as caught:
        await ask(open_egress, shop.spec(**changed))
    assert caught.value.code == "not_configured"


@servers
async def test_no_spelling_of_a_private_address_is_ever_connected_to(shop):
    async with Egress() as egress, listening_at_both(address="127.0.0.1", second="::1") as (canary, other):
        hosts = [*REFUSED_HOSTS, *(host.strip("[]") for host in REFUSED_HOSTS if ":" in host)]
        hosts += [
            "/var/run/postgresql",
            "/run/mysqld/mysqld.sock",
            "@abstract",
            "127.0.0.1,127.0.0.1",
            "localhost:5432",
        ]
        for host in hosts:
            spec = shop.spec(host=host, port=canary.port)
            for attempt in (ask(egress, spec), ping(egress, spec, timeout_s=2)):
                with pytest.raises(EgressRefused):
                    await attempt
        assert (canary.connections, other.connections) == (0, 0)


@servers
async def test_a_name_that_leads_to_this_machine_is_refused_every_time(shop):
    for answers in ([["127.0.0.1"]], [["8.8.8.8", "127.0.0.1"]], [["::1"]], [["169.254.169.254"]]):
        async with Egress(resolver=ScriptedResolver(*answers)) as egress, listening() as canary:
            with pytest.raises(EgressRefused):
                await ask(egress, shop.spec(host="db.example.com", port=canary.port))
            assert canary.connections == 0
    async with Egress(["db.example.com"], resolver=ScriptedResolver([])) as egress:
        with pytest.raises(EgressFailed):
            await ask(egress, shop.spec(host="db.example.com"))


@servers
async def test_the_next_address_of_a_name_is_tried(shop):
    resolver = ScriptedResolver(["127.0.0.77", "127.0.0.1"])
    async with Egress(["127.0.0.0/8"], resolver=resolver) as egress:
        rows = await ask(egress, shop.spec(host="db.example.com"))
    assert rows.rows == [{"one": 1}]
    assert resolver.asked == ["db.example.com"]


@pytest.fixture
async def named_egress():
    async with Egress(["127.0.0.0/8"], resolver=ScriptedResolver(["127.0.0.1"])) as egress:
        yield egress


@servers
async def test_a_certificate_is_checked_for_the_name_though_the_address_is_pinned(shop, named_egress):
    spec = shop.spec(host=NAME, tls="verify-full", ca_certificates=shop.certificate)
    assert await is_encrypted(named_egress, spec)
    await ping(named_egress, spec, timeout_s=5)
    with pytest.raises(DatabaseUnreachable, match="certificate could not be verified"):
        await ask(
            named_egress,
            shop.spec(host="other.example.test", tls="verify-full", ca_certificates=shop.certificate),
        )
    assert await is_encrypted(
        named_egress, shop.spec(host="other.example.test", tls="verify-ca", ca_certificates=shop.certificate)
    )
    for mode in ("verify-full", "verify-ca"):
        with pytest.raises(DatabaseUnreachable, match="certificate could not be verified"):
            await ask(named_egress, shop.spec(host=NAME, tls=mode))


@servers
async def test_the_line_is_as_private_as_the_mode_says(shop, open_egress):
    assert await is_encrypted(open_egress, shop.spec(tls="require"))
    assert await is_encrypted(open_egress, shop.spec(tls="prefer"))
    assert not await is_encrypted(open_egress, shop.spec(tls="disable"))


@servers
async def test_who_takes_tls_away_gets_no_login_unless_tls_was_only_preferred(shop, open_egress):
    async with without_tls(shop) as plain:
        assert not await is_encrypted(open_egress, plain.spec(tls="prefer"))
        assert not await is_encrypted(open_egress, plain.spec(tls="disable"))
        for mode in ("require", "verify-ca", "verify-full"):
            spec = plain.spec(tls=mode, ca_certificates=shop.certificate)
            with pytest.raises(DatabaseUnreachable):
                await ask(open_egress, spec)
