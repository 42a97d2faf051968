"""The database of every release is restored, migrated to the newest revision, and read through the API."""

import asyncio
import lzma
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retinue import __version__
from retinue.app import Service
from retinue.cli.backups.archive import open_archive
from retinue.cli.backups.restore import RestoredInstance, RestoreOptions, restore_backup
from retinue.kit.clock import ManualClock
from retinue.kit.db.database_content import DatabaseContent
from retinue.kit.db.postgres_copy import read_content as read_postgres
from retinue.kit.db.sqlite_copy import read_content as read_sqlite
from retinue.kit.http.replies import EventStream
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Route
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.migrations.upgrade import head
from tests.adapters.llm_server import provider_server
from tests.client import Api
from tests.contract.routes import ROUTES
from tests.databases import SERVER
from tests.e2e.processes import drop_database, make_database
from tests.factories.agents import make_agent
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, PASSWORD
from tests.factories.providers import add_key_for
from tests.upgrade.kept import FOLDER, KEPT_AT, KEPT_CREDENTIAL, KEPT_EMAIL, KEPT_KEY, KEPT_SECRET

pytestmark = pytest.mark.every_case

RELEASES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and path.name[0].isdigit())
KIND = "postgresql" if SERVER else "sqlite"
DAY_SECONDS = 24 * 3600
# Their answer is not a list of what is stored.
LEFT_OUT = {"get_metrics"}


@pytest.fixture(scope="module")
async def database_url(worker_id: str) -> AsyncIterator[str]:
    if not SERVER:
        yield ""
        return
    name = f"retinue_upgrade_{os.getpid()}_{worker_id}"
    yield await make_database(SERVER, name)
    await drop_database(SERVER, name)


@pytest.fixture(scope="module", params=RELEASES)
async def restored_instance(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_url: str
) -> tuple[Settings, RestoredInstance]:
    """The kept instance of a release, after `retinue restore` has migrated it."""
    folder = tmp_path_factory.mktemp("kept")
    file = folder / "kept.tar"
    file.write_bytes(lzma.decompress((FOLDER / request.param / f"{KIND}.tar.xz").read_bytes()))
    settings = Settings(
        data_dir=folder / "data",
        database_url=database_url,
        base_url="http://127.0.0.1:8080",
        master_key=Secret(KEPT_KEY),
        password_cost=(8, 1, 1),
        worker="off",
        database_pool=5,
    )
    options = RestoreOptions(passphrase=None, is_check=False, is_without_key=False)
    return settings, await asyncio.to_thread(restore_backup, settings, file, options)


@pytest.fixture(scope="module")
async def kept_service(restored_instance: tuple[Settings, RestoredInstance]) -> AsyncIterator[Service]:
    service = Service(restored_instance[0], ManualClock(KEPT_AT + DAY_SECONDS))
    await service.start()
    yield service
    await service.stop()


async def sign_in(service: Service, email: str, password: str) -> Api:
    answer = await Api(service).post("/auth/login", {"email": email, "password": password})
    assert answer.status == 200, answer
    return Api(service, token=answer.json()["access_token"])


async def content_of(settings: Settings) -> DatabaseContent:
    if settings.database_url:
        return await read_postgres(settings.database_url)
    return await asyncio.to_thread(read_sqlite, settings.data_dir / "retinue.db")


def lists() -> list[Route]:
    """Every route that reads and needs no id."""
    return [
        route
        for route in ROUTES
        if route.method == "GET" and not route.parameters and route.requires not in {PUBLIC, EMBED_KEY}
        and route.returns is not EventStream and route.name not in LEFT_OUT
    ]  # fmt: skip


def test_this_release_is_kept_in_both_kinds() -> None:
    assert __version__ in RELEASES, "run scripts/kept_database.py on both databases before the release"
    for release in RELEASES:
        assert {path.name for path in (FOLDER / release).iterdir()} == {
            "sqlite.tar.xz",
            "postgresql.tar.xz",
        }


async def test_every_row_comes_through_the_migrations(restored_instance) -> None:
    settings, done = restored_instance
    content, before = await content_of(settings), done.manifest.database.tables
    assert content.revision == head()
    assert done.audit_rows > 100
    assert not done.is_sealed
    filled = [table for table, rows in before.items() if rows]
    assert len(filled) > 75, "the kept database has rows of nearly every table"
    lost = {
        table: (before[table], content.tables.get(table))
        for table in filled
        if content.tables.get(table, 0) < before[table]
    }
    assert lost == {}


async def test_everything_is_read_through_the_api(kept_service: Service) -> None:
    admin = await sign_in(kept_service, ADMIN_EMAIL, ADMIN_PASSWORD)
    owner = await sign_in(kept_service, KEPT_EMAIL, PASSWORD)
    seen: dict[int, set[str]] = {}
    for route in lists():
        kept_service.instance.clock.advance(1)
        for caller in (admin, owner):
            answer = await caller.get(route.path)
            seen.setdefault(answer.status, set()).add(route.name)
    # 422: a required parameter of the query is missing.
    assert seen.keys() <= {200, 403, 422}, seen
    assert len(seen[200]) > 50
    assert seen.get(403, set()) <= seen[200], "what only a super administrator reads"


async def test_secrets_and_chats_work_on(kept_service: Service) -> None:
    async with provider_server() as provider:
        admin = await sign_in(kept_service, ADMIN_EMAIL, ADMIN_PASSWORD)
        await add_key_for(admin, provider, models=["test-model"])
        agent = await make_agent(admin, primary_model="openai_compatible/test-model", status="published")
        provider.says("Still here.")
        answer = await admin.post(f"/api/v1/agents/{agent['id']}/chat", json={"message": "Are you?"})
        assert (answer.status, "Still here." in answer.body.decode()) == (200, True), answer
    owner = await sign_in(kept_service, KEPT_EMAIL, PASSWORD)
    found = (await owner.get("/v1/credentials", query={"search": KEPT_CREDENTIAL})).json()["data"]
    (credential,) = [one for one in found if one["name"] == KEPT_CREDENTIAL]
    revealed = await owner.get(f"/v1/credentials/{credential['id']}/reveal")
    assert revealed.json()["data"]["secrets"] == {"api_key": KEPT_SECRET}


async def test_a_kept_file_is_a_backup_that_this_version_reads(tmp_path: Path) -> None:
    for release in RELEASES:
        file = tmp_path / f"{release}.tar"
        file.write_bytes(lzma.decompress((FOLDER / release / f"{KIND}.tar.xz").read_bytes()))
        with open_archive(file, None) as reader:
            reader.read_all()
            assert reader.manifest.version == release
