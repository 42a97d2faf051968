"""Servers that are not what they claim: nothing of ours is given away, and no memory is filled."""

import random
import resource
import struct

import pytest

from retinue.adapters.databases import (
    ConnectionSpec,
    DatabaseFailed,
    DatabaseLoginRefused,
    ResultTooLarge,
    check,
    ping,
    run,
)
from retinue.kit.secrets import Secret
from tests.adapters.hostile_servers import (
    flood,
    mysql_greeting,
    mysql_that_answers,
    packet,
    read_packet,
    serving,
)

PASSWORD = "never-to-be-seen-in-clear"
MEBIBYTE = 1024 * 1024
servers = pytest.mark.parametrize("db_type", ["postgresql", "mysql"])


def spec(db_type, port, **changed):
    return ConnectionSpec(
        db_type=db_type,
        host="127.0.0.1",
        port=port,
        username="user",
        database="shop",
        password=Secret(PASSWORD),
        **changed,
    )


async def failure(egress, db_type, port, timeout_s=2.0, **changed) -> DatabaseFailed:
    query = check("SELECT 1", db_type=db_type, allowed=("select",))
    with pytest.raises(DatabaseFailed) as caught:
        await run(egress, spec(db_type, port, **changed), query, timeout_s=timeout_s, max_rows=5)
    assert PASSWORD not in caught.value.message
    assert caught.value.__cause__ is None
    return caught.value


@servers
@pytest.mark.parametrize("seed", range(12))
async def test_garbage_is_a_failure_and_nothing_else(open_egress, db_type, seed):
    noise = random.Random(seed)

    async def serve(read, writer) -> None:
        if db_type == "mysql" and seed % 3:
            writer.write(mysql_greeting())
        for _ in range(noise.randrange(4)):
            writer.write(noise.randbytes(noise.choice([1, 5, 40, 3000])))
            await writer.drain()
        writer.close()

    async with serving(serve) as (port, _):
        await failure(open_egress, db_type, port, tls="disable" if seed % 2 else "prefer")
        with pytest.raises(DatabaseFailed):
            await ping(open_egress, spec(db_type, port), timeout_s=2)


@servers
async def test_a_server_that_says_nothing_is_given_up_in_time(open_egress, db_type):
    async def serve(read, writer) -> None:
        await read(1 << 20)

    async with serving(serve) as (port, _):
        assert (await failure(open_egress, db_type, port, timeout_s=0.3)).code == "timeout"


@pytest.mark.parametrize(
    ("db_type", "start"),
    [
        ("postgresql", b"R" + struct.pack("!I", 0x3FFFFFFF)),
        ("postgresql", b"R" + struct.pack("!II", 8, 0) + b"T" + struct.pack("!I", 0x3FFFFFFF)),
        ("mysql", b"\xff\xff\xff\x00"),
        ("mysql", mysql_greeting() + b"\xff\xff\xff\x02"),
    ],
)
async def test_a_flood_ends_before_it_fills_memory(open_egress, db_type, start):
    sent = []

    async def serve(read, writer) -> None:
        if db_type == "postgresql":
            await read(8)
        writer.write(start)
        sent.append(await flood(writer, b"\0" * 65536, 256 * MEBIBYTE))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with serving(serve) as (port, _):
        error = await failure(open_egress, db_type, port, timeout_s=10, tls="disable")
    assert isinstance(error, ResultTooLarge)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert not sent or sent[0] < 64 * MEBIBYTE


@pytest.mark.parametrize("db_type", ["mysql"])
async def test_a_server_that_asks_for_our_files_gets_none(open_egress, db_type, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("content of a file of ours")
    async with serving(mysql_that_answers(b"\xfb" + str(secret).encode())) as (port, received):
        await failure(open_egress, db_type, port, tls="disable")
        with pytest.raises(DatabaseFailed):
            await ping(open_egress, spec(db_type, port, tls="disable"), timeout_s=2)
    assert b"SHOW GRANTS" in received
    assert b"content of" not in received


@pytest.mark.parametrize("db_type", ["mysql"])
@pytest.mark.parametrize("at", ["greeting", "switch"])
async def test_a_password_is_not_sent_in_clear_because_a_server_asks(open_egress, db_type, at):
    async def switch(read, writer) -> None:
        writer.write(mysql_greeting())
        await read_packet(read)
        writer.write(packet(2, b"\xfemysql_clear_password\0"))

    serve = switch if at == "switch" else mysql_that_answers(b"\x00", b"mysql_clear_password")
    async with serving(serve) as (port, received):
        for mode in ("prefer", "disable"):
            error = await failure(open_egress, db_type, port, tls=mode)
            assert isinstance(error, DatabaseLoginRefused)
            assert "clear text" in error.message
    assert PASSWORD.encode() not in received


@servers
async def test_the_servers_own_accounts_are_never_offered(open_egress, db_type, monkeypatch, tmp_path):
    """Drivers like to help themselves from the environment and the home of the process."""
    (tmp_path / ".pgpass").write_text("*:*:*:*:operators-password\n")
    (tmp_path / ".pgpass").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGPASSWORD", "operators-password")
    monkeypatch.setenv("PGUSER", "operator")
    monkeypatch.setenv("PGDATABASE", "operators")
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGTARGETSESSIONATTRS", "read-write")

    async def serve(read, writer) -> None:
        if db_type == "mysql":
            writer.write(mysql_greeting())
            await read_packet(read)
            return
        await read(int.from_bytes(await read(4), "big") - 4)
        writer.write(b"R" + struct.pack("!II", 8, 3))
        await read(1)
        await read(int.from_bytes(await read(4), "big") - 4)

    async with serving(serve) as (port, received):
        given = ConnectionSpec(db_type=db_type, host="127.0.0.1", port=port, username="user", tls="disable")
        with pytest.raises(DatabaseFailed):
            await ping(open_egress, given, timeout_s=0.3)
    assert b"operator" not in received
    assert b"user" in received
