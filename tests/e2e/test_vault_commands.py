"""`retinue vault …` beside running servers."""

import asyncio
import re
from pathlib import Path

import pytest

from retinue.cli.vault_commands import run_rotate_root
from retinue.kit.crypto import RootKey
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, Settings
from retinue.kit.vault import KEY_FILE
from tests.e2e.commands import run_command
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess
from tests.e2e.vault_calls import invite, sign_in, vault_state

pytestmark = pytest.mark.either_database

BASE_URL = "http://127.0.0.1:8080"


@pytest.mark.slow
async def test_the_status_and_the_exchange_of_the_key_file(tmp_path: Path, database_url: str) -> None:
    server = ServerProcess(tmp_path, database_url, RETINUE_WORKER="off")
    await server.start()
    await server.stop()
    ran = await run_command(server, "vault", "status")
    assert ran.code == 0, ran
    lines = ran.output.splitlines()
    assert lines[0] == "The vault is open."
    assert re.fullmatch(r"version 1  active  since \S+  root [0-9a-f]{16}  2 secrets", lines[1])
    assert re.fullmatch(r"signing key key_\w+  active  since \S+", lines[2])
    key_file = tmp_path / "data" / KEY_FILE
    before = key_file.read_text()
    ran = await run_command(server, "vault", "rotate-root")
    assert ran.code == 0, ran
    assert key_file.read_text() != before
    assert key_file.read_text().strip() not in ran.output + ran.errors
    await server.start()
    assert await vault_state(server) == "open"
    await server.stop()


@pytest.mark.slow
async def test_a_root_key_of_the_environment_is_shown_and_the_old_one_seals(
    tmp_path: Path, database_url: str
) -> None:
    old = RootKey.generate().encoded().reveal()
    server = ServerProcess(tmp_path, database_url, RETINUE_MASTER_KEY=old)
    await server.start()
    await server.stop()
    ran = await run_command(server, "vault", "rotate-root")
    assert ran.code == 0, ran
    (shown,) = re.findall(r"New master key \(shown once\): (\S+)", ran.output)
    new = RootKey.parse(Secret(shown))
    ran = await run_command(server, "vault", "status", RETINUE_MASTER_KEY=shown)
    assert "The vault is open." in ran.output
    assert f"root {new.fingerprint}" in ran.output
    ran = await run_command(server, "vault", "rotate-root")
    assert (ran.code, "Traceback" in ran.errors) == (1, False)
    assert "retinue: The vault is sealed" in ran.errors
    assert "New master key" not in ran.output
    assert not (tmp_path / "data" / KEY_FILE).exists()


async def test_a_bad_master_key_is_refused_in_one_line(tmp_path: Path) -> None:
    ran = await run_command(ServerProcess(tmp_path), "vault", "status", RETINUE_MASTER_KEY="secret")
    assert (ran.code, ran.output, ran.errors.count("\n")) == (2, "", 1), ran


def test_a_bad_new_root_key_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"^--new-key must be 32 random bytes in base64$"):
        run_rotate_root(Settings(data_dir=tmp_path / "data"), "changeme")
    assert not (tmp_path / "data").exists()


class Callers:
    """Use two servers in turn, with a token that the other one issued, until told to stop."""

    def __init__(self, servers: list[ServerProcess]) -> None:
        self._servers = servers
        self._stop = asyncio.Event()
        self.wrong: list[object] = []
        self.calls = 0

    async def run(self) -> None:
        while not self._stop.is_set():
            issuer, verifier = self._servers
            self._servers = [verifier, issuer]
            token = await sign_in(issuer)
            for status, answer in (
                await call(verifier.port, "GET", "/auth/me", token=token),
                await invite(verifier, token, **{"Idempotency-Key": f"call-{self.calls}"}),
            ):
                self.calls += 1
                if status not in {200, 201}:
                    self.wrong.append((status, answer))
            await asyncio.sleep(0.05)

    def stop(self) -> None:
        self._stop.set()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rotate-signing-key", "rotate-key"])
async def test_rotating_while_two_servers_are_in_use_refuses_nobody(
    tmp_path: Path, database_url: str, command: str
) -> None:
    servers = [ServerProcess(tmp_path, database_url, RETINUE_BASE_URL=BASE_URL) for _ in range(2)]
    for server in servers:
        await server.start()
    callers = Callers(servers)
    calling = asyncio.create_task(callers.run())
    ran = await run_command(servers[0], "vault", command)
    await asyncio.sleep(6)
    callers.stop()
    await calling
    assert ran.code == 0, ran
    assert callers.wrong == []
    assert callers.calls > 50
    status = (await run_command(servers[0], "vault", "status")).output
    if command == "rotate-key":
        assert re.findall(r"version (\d+)  (\w+)", status) == [("2", "active")]
    else:
        assert re.findall(r"signing key \w+  (\w+)", status) == ["old", "active"]
    for server in servers:
        assert await server.stop() == 0
