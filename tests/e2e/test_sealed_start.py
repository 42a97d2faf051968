"""A1 and V4: which master keys a server starts with, and what it does without the right one."""

import asyncio
import base64
import os
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.crypto import SAMPLE_MASTER_KEY, RootKey
from retinue.kit.db.databases import database_for
from retinue.kit.settings import Settings
from retinue.kit.vault import KEY_FILE
from retinue.kit.vault.rewrap import sealed_columns
from tests.e2e.commands import Ran, start_command
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess, free_port
from tests.e2e.vault_calls import invite, sign_in, vault_state

pytestmark = pytest.mark.either_database

BAD_KEYS = {
    "empty": "",
    "a word": "secret",
    "another word": "changeme",
    "the sample of the documentation": SAMPLE_MASTER_KEY,
    "sixteen bytes": base64.b64encode(os.urandom(16)).decode(),
}


async def watch_start(server: ServerProcess, **env: str) -> Ran:
    """Start and watch until it ends: at no moment may anybody connect."""
    port = free_port()
    process = await start_command(server, "serve", "--port", str(port), **env)
    ending = asyncio.ensure_future(asyncio.wait_for(process.communicate(), 60))
    while not ending.done():
        with pytest.raises(OSError, match=r"refused|failed"):
            await asyncio.open_connection("127.0.0.1", port)
        await asyncio.wait([ending], timeout=0.05)
    output, errors = await ending
    assert process.returncode is not None
    return Ran(process.returncode, output.decode(), errors.decode())


@pytest.mark.slow
async def test_a_malformed_or_known_master_key_ends_the_start_before_a_port_is_opened(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    starts = [watch_start(server, RETINUE_MASTER_KEY=key) for key in BAD_KEYS.values()]
    for name, ran in zip(BAD_KEYS, await asyncio.gather(*starts), strict=True):
        assert ran.code == 2, (name, ran)
        assert ran.errors.startswith("retinue: RETINUE_MASTER_KEY "), (name, ran)
        assert "Traceback" not in ran.errors
        assert not BAD_KEYS[name] or BAD_KEYS[name] not in ran.output + ran.errors, name
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
async def test_a_key_file_that_is_malformed_or_that_others_may_read_ends_the_start(tmp_path: Path) -> None:
    folders = [tmp_path / "malformed", tmp_path / "open"]
    texts = ["secret", RootKey.generate().encoded().reveal()]
    for folder, text, mode in zip(folders, texts, (0o600, 0o644), strict=True):
        (folder / "data").mkdir(parents=True)
        (folder / "data" / KEY_FILE).write_text(text)
        (folder / "data" / KEY_FILE).chmod(mode)
    ran = await asyncio.gather(*(watch_start(ServerProcess(folder)) for folder in folders))
    assert [ended.code for ended in ran] == [2, 2]
    assert "must be 32 random bytes" in ran[0].errors
    assert "chmod 600" in ran[1].errors


async def read_everything_sealed(server: ServerProcess) -> list[Any]:
    """Every ciphertext and every wrapped key of the database."""
    settings = Settings(
        data_dir=Path(server.env["RETINUE_DATA_DIR"]), database_url=server.env["RETINUE_DATABASE_URL"]
    )
    database = database_for(settings)
    await database.open()
    try:
        found = await database.fetch("SELECT id, wrapped, root_fingerprint, state FROM vault_keys", [])
        for column in sealed_columns():
            found += await database.fetch(f"SELECT id, {column.field} FROM {column.table.name}", [])
    finally:
        await database.close()
    return sorted(tuple(row) for row in found)


async def assert_sealed(server: ServerProcess, before: list[Any]) -> str:
    """It runs, says so, lets people in, refuses what needs a key, and changes nothing; a token of it."""
    assert await vault_state(server) == "sealed"
    token = await sign_in(server)
    assert (await call(server.port, "GET", "/auth/me", token=token))[0] == 200
    for answer in (
        await invite(server, token),
        await invite(server, token, **{"Idempotency-Key": "once"}),
        await call(server.port, "POST", "/api/v1/mfa/setup", token=token, body={}),
    ):
        assert (answer[0], answer[1]["error"]["code"]) == (503, "vault_sealed")
    assert await read_everything_sealed(server) == before
    return token


@pytest.mark.campaign
async def test_without_its_key_the_server_starts_sealed_and_with_it_everything_is_there(
    tmp_path: Path, database_url: str
) -> None:
    server = ServerProcess(
        tmp_path, database_url, RETINUE_WORKER="off", RETINUE_BASE_URL="http://127.0.0.1:8080"
    )
    await server.start()
    key_file = tmp_path / "data" / KEY_FILE
    assert (key_file.stat().st_mode & 0o777, await vault_state(server)) == (0o600, "open")
    token = await sign_in(server)
    assert (await invite(server, token))[0] == 201
    await server.stop()
    before = await read_everything_sealed(server)
    assert len(before) == 4

    server.env["RETINUE_MASTER_KEY"] = RootKey.generate().encoded().reveal()
    await server.start()
    ephemeral = await assert_sealed(server, before)
    assert (await call(server.port, "GET", "/auth/me", token=token))[0] == 401
    await server.stop()

    del server.env["RETINUE_MASTER_KEY"]
    key = key_file.read_text()
    key_file.unlink()
    await server.start()
    await assert_sealed(server, before)
    assert not key_file.exists()
    await server.stop()

    server.env["RETINUE_MASTER_KEY"] = key.strip()
    server.env["RETINUE_WORKER"] = "inline"
    await server.start()
    assert await vault_state(server) == "open"
    me = [(await call(server.port, "GET", "/auth/me", token=one))[0] for one in (token, ephemeral)]
    assert me == [200, 401]
    assert (await invite(server, token))[0] == 201
    async with asyncio.timeout(20):
        while len(list((tmp_path / "data" / "outbox").glob("*.eml"))) < 2:
            await asyncio.sleep(0.05)
    assert await server.stop() == 0
