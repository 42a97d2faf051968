"""A backup made beside a running service is restored, and the API of the copy shows what the original did."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from retinue.cli.backups.create import verify_backup
from retinue.cli.backups.manifest import BackupRefused
from retinue.kit.db.databases import direct_url
from retinue.kit.errors import CannotStart
from retinue.kit.last_backup import LAST_BACKUP, LastBackup
from retinue.kit.settings import Settings
from retinue.kit.vault import KEY_FILE
from tests.backups.conftest import CANARY, NAME, PASSPHRASE, Filled, Opener, restore, upload
from tests.databases import SERVER


async def assert_same(filled: Filled, copy_of: Settings, open_copy: Opener) -> None:
    copy = await open_copy(copy_of)
    for path in ("/api/v1/agents", "/v1/credentials", "/api/v1/files"):
        original, restored = await filled.admin.get(path), await copy.get(path)
        assert (original.status, restored.status) == (200, 200), (path, restored)
        assert restored.json() == original.json(), path
    revealed = await copy.get(f"/v1/credentials/{filled.credential_id}/reveal")
    assert revealed.json()["data"]["secrets"] == {"api_key": CANARY}
    for file_id in filled.file_ids:
        content = await copy.get(f"/api/v1/files/{file_id}/content")
        assert content.body == (await filled.admin.get(f"/api/v1/files/{file_id}/content")).body


@pytest.mark.every_case
@pytest.mark.parametrize("passphrase", [None, PASSPHRASE], ids=["plain", "sealed"])
async def test_the_copy_answers_as_the_original(filled, target, tmp_path, open_copy, passphrase):
    file = tmp_path / "backup.tar"
    done = await filled.backup(file, passphrase)
    assert (done.has_key, done.manifest.missing, len(done.manifest.files)) == (True, [], 3)
    restored = await restore(target, file, passphrase=passphrase)
    assert restored.manifest == done.manifest
    assert (restored.is_sealed, restored.missing) == (False, [])
    assert restored.audit_rows > 0
    await assert_same(filled, target, open_copy)


async def test_the_files_are_private_and_hold_no_secret(filled, tmp_path):
    plain, sealed = tmp_path / "plain.tar", tmp_path / "sealed.tar"
    await filled.backup(plain)
    await filled.backup(sealed, PASSPHRASE)
    key = (filled.settings.data_dir / KEY_FILE).read_bytes().strip()
    for file in (plain, sealed):
        assert file.stat().st_mode & 0o777 == 0o600
        content = file.read_bytes()
        assert CANARY.encode() not in content
        assert key not in content
    assert b"content 1content 1" in plain.read_bytes()
    assert b"content 1content 1" not in sealed.read_bytes()
    assert NAME.encode() not in sealed.read_bytes()
    last = msgspec.json.decode((filled.settings.data_dir / LAST_BACKUP).read_bytes(), type=LastBackup)
    assert (last.file, last.bytes) == (str(sealed), sealed.stat().st_size)
    assert not list(tmp_path.glob(".*.tar.*")), "nothing temporary is left"


async def test_writes_go_on_while_the_backup_is_made(filled, target, tmp_path, open_copy):
    """S2, the short form: what was acknowledged before the start is in the copy, with its bytes."""
    acknowledged: list[str] = []
    is_stopped = asyncio.Event()

    async def write() -> None:
        while not is_stopped.is_set():
            acknowledged.append(await upload(filled.admin, os.urandom(64)))

    writing = asyncio.create_task(write())
    while len(acknowledged) < 5:
        await asyncio.sleep(0.01)
    before = list(acknowledged)
    done = await filled.backup(tmp_path / "backup.tar")
    is_stopped.set()
    await writing
    assert len(acknowledged) > len(before), "nothing was written meanwhile"
    named = {file.path.rpartition("/")[2] for file in done.manifest.files}
    assert {*before, *filled.file_ids} <= named
    assert done.manifest.missing == []
    await restore(target, tmp_path / "backup.tar")
    copy = await open_copy(target)
    for file_id in before:
        assert (await copy.get(f"/api/v1/files/{file_id}/content")).status == 200


async def test_files_of_tools_come_with_it(filled, target, tmp_path):
    data = filled.settings.data_dir
    (data / "scripts").mkdir()
    (data / "scripts" / "run.sh").write_text("echo 1\n")
    (data / "scripts" / "run.sh").chmod(0o755)
    (data / "scripts" / "outside").symlink_to("/etc/hostname")
    await filled.backup(tmp_path / "backup.tar")
    await restore(target, tmp_path / "backup.tar")
    script = target.data_dir / "scripts" / "run.sh"
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("echo 1\n", 0o700)
    assert not (target.data_dir / "scripts" / "outside").exists()
    for path in target.data_dir.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_a_check_leaves_nothing_behind(filled, tmp_path):
    await filled.backup(tmp_path / "backup.tar")
    before = {path.name for path in tmp_path.parent.iterdir()}
    restored = await restore(filled.settings, tmp_path / "backup.tar", is_check=True)
    assert restored.audit_rows > 0
    assert {path.name for path in tmp_path.parent.iterdir()} == before


async def test_without_the_key_everything_but_the_secrets_is_restored(filled, target, tmp_path, open_copy):
    file = tmp_path / "backup.tar"
    await filled.backup(file)
    key = target.data_dir / KEY_FILE
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(CannotStart, match=r"there is no master key\. Set RETINUE_MASTER_KEY or put"):
        await restore(target, file)
    assert list(target.data_dir.iterdir()) == []
    restored = await restore(target, file, is_without_key=True)
    assert restored.is_sealed
    key.write_bytes(kept)
    key.chmod(0o600)
    await assert_same(filled, target, open_copy)


async def test_another_key_is_refused(filled, target, tmp_path):
    file = tmp_path / "backup.tar"
    await filled.backup(file)
    (target.data_dir / KEY_FILE).write_text("q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80=\n")
    with pytest.raises(BackupRefused, match="belongs to another master key"):
        await restore(target, file)
    other = replace(filled.settings, data_dir=target.data_dir)
    with pytest.raises(BackupRefused, match="belongs to another master key"):
        await asyncio.to_thread(verify_backup, other, file, None)
    manifest, is_signed = await asyncio.to_thread(verify_backup, other, file, None, is_unsigned=True)
    assert (is_signed, len(manifest.files)) == (False, 3)


@pytest.mark.skipif(not SERVER, reason="needs a PostgreSQL: the place of an SQLite database is the folder")
async def test_a_database_in_use_is_refused_by_the_name_of_its_setting(filled, target, tmp_path):
    file = tmp_path / "backup.tar"
    await filled.backup(file)
    in_use = direct_url(filled.settings)
    with pytest.raises(CannotStart, match="the database of RETINUE_DATABASE_URL is not empty"):
        await restore(replace(target, database_url=in_use, database_direct_url=""), file)
    with pytest.raises(CannotStart, match="the database of RETINUE_DATABASE_DIRECT_URL is not empty"):
        await restore(replace(target, database_direct_url=in_use), file)


async def test_a_place_in_use_is_refused(filled, target, tmp_path):
    file = tmp_path / "backup.tar"
    await filled.backup(file)
    with pytest.raises(CannotStart, match=r"contains an instance\. Stop its server|is not empty"):
        await restore(filled.settings, file)
    (target.data_dir / "notes.txt").write_text("mine")
    with pytest.raises(CannotStart, match=r"is not empty: it contains notes\.txt"):
        await restore(target, file)
    assert (target.data_dir / "notes.txt").read_text() == "mine"
    with pytest.raises(CannotStart, match="exists already"):
        await filled.backup(file)


async def test_only_the_newest_are_kept(filled, tmp_path: Path):
    other = tmp_path / "retinue-old.tar"
    other.write_text("another's")
    for day in range(1, 5):
        done = await filled.backup(tmp_path / f"retinue-2026110{day}.tar", keep=2)
    assert [path.name for path in done.removed] == ["retinue-20261102.tar"]
    left = sorted(path.name for path in tmp_path.glob("retinue-*.tar"))
    assert left == ["retinue-20261103.tar", "retinue-20261104.tar", "retinue-old.tar"]
    with pytest.raises(CannotStart, match="needs a date in the file's name"):
        await filled.backup(tmp_path / "latest.tar", keep=2)
