"""An instance with something of what matters, backed up beside the service that answers for it."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from retinue.app import Service
from retinue.cli.backups.create import FinishedBackup, create_backup
from retinue.cli.backups.restore import RestoredInstance, RestoreOptions, restore_backup
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault import KEY_FILE
from tests.client import Api
from tests.databases import SERVER
from tests.e2e.processes import drop_database, make_database
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD
from tests.pgbouncer import database_settings

PASSPHRASE = Secret("correct horse battery staple")
CANARY = "sk-canary-7d1f0c2e9b"
NAME = "Keeper of the backup"


@dataclass
class Filled:
    """A running service, and what was stored in it through the API."""

    service: Service
    admin: Api
    agent_id: str
    credential_id: str
    file_ids: list[str]

    @property
    def settings(self) -> Settings:
        return self.service.settings

    async def backup(self, file: Path, passphrase: Secret | None = None, keep: int = 0) -> FinishedBackup:
        return await asyncio.to_thread(create_backup, self.settings, file, passphrase, keep)


@pytest.fixture(autouse=True)
def _cheap_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file names the cost of its own passphrase; these need not resist anybody."""
    monkeypatch.setattr("retinue.kit.sealed_stream._LOG2_COST", 10)


@pytest.fixture
async def filled(service: Service, admin: Api) -> Filled:
    agent = await admin.post(
        "/api/v1/agents",
        json={"name": NAME, "primary_model": "local/smollm2-135m", "system_prompt": "You are brief."},
    )
    secrets = {"api_key": CANARY}
    credential = await admin.post(
        "/v1/credentials", json={"name": "Kept", "type": "api_key", "secrets": secrets}
    )
    assert (agent.status, credential.status) == (201, 201), (agent, credential)
    files = [await upload(admin, f"content {number}".encode() * 50) for number in range(3)]
    return Filled(service, admin, agent.json()["id"], credential.json()["data"]["id"], files)


async def upload(person: Api, content: bytes) -> str:
    answer = await person.post(
        "/api/v1/files", files={"file": ("kept.py", content, "text/x-python")}, fields={"purpose": "tool"}
    )
    assert answer.status == 201, answer
    return str(answer.json()["data"]["file_id"])


@pytest.fixture
async def target(filled: Filled, tmp_path: Path, worker_id: str) -> AsyncIterator[Settings]:
    """The settings to restore with: an empty folder with the key, and an empty database."""
    folder = tmp_path / "restored"
    folder.mkdir()
    (folder / KEY_FILE).write_bytes((filled.settings.data_dir / KEY_FILE).read_bytes())
    (folder / KEY_FILE).chmod(0o600)
    settings = replace(filled.settings, data_dir=folder)
    if not SERVER:
        yield settings
        return
    name = f"retinue_restore_{os.getpid()}_{worker_id}"
    yield replace(settings, **database_settings(await make_database(SERVER, name)))
    await drop_database(SERVER, name)


async def restore(settings: Settings, file: Path, **options: Any) -> RestoredInstance:
    chosen = {"passphrase": None, "is_check": False, "is_without_key": False, **options}
    return await asyncio.to_thread(restore_backup, settings, file, RestoreOptions(**chosen))


Opener = Callable[[Settings], Awaitable[Api]]


@pytest.fixture
async def open_copy(clock: Any) -> AsyncIterator[Opener]:
    """Start a service on what was restored, and sign in as its administrator."""
    started: list[Service] = []

    async def start(settings: Settings) -> Api:
        copy = Service(settings, clock)
        await copy.start()
        started.append(copy)
        login = await Api(copy).post("/auth/login", {"email": ADMIN_EMAIL, "password": ADMIN_PASSWORD})
        assert login.status == 200, login
        return Api(copy, token=login.json()["access_token"])

    yield start
    for copy in started:
        await copy.stop()
