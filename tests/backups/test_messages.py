"""Tests of the messages and exit codes of the backup commands when something fails."""

import asyncio
import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from alembic import command

from retinue.cli.backups import commands
from retinue.cli.backups.create import create_backup, explained_errors
from retinue.cli.backups.manifest import BackupRefused
from retinue.cli.backups.postgres_tools import find_tool
from retinue.cli.upgrade_command import run_upgrade
from retinue.kit.errors import CannotStart
from retinue.kit.settings import BadSetting, Settings
from retinue.migrations.upgrade import SchemaTooNew, alembic_config, head
from tests.backups.conftest import Filled, restore
from tests.contract.migrating import on_connection, revision

pytestmark = pytest.mark.either_database


def upgrade(settings: Settings, backup: Path | None = None, **flags: bool) -> Any:
    chosen = {"is_check": False, "is_unsafe": False, **flags}
    return asyncio.to_thread(run_upgrade, settings, backup, None, **chosen)


async def set_revision(filled: Filled, revision: str) -> None:
    sql = f"UPDATE alembic_version SET version_num = '{revision}'"
    await filled.service.instance.database.apply([(sql, [[]])])


async def test_a_full_disk_is_said_and_leaves_nothing(filled, tmp_path, monkeypatch):
    def fill_up(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("retinue.cli.backups.archive._write_members", fill_up)
    folder = tmp_path / "backups"
    folder.mkdir()
    with pytest.raises(CannotStart, match=r"the disk is full: [\d,]+ bytes are free below .*backups"):
        await filled.backup(folder / "a.tar")
    assert list(folder.iterdir()) == []


def test_missing_rights_are_said_with_the_path(tmp_path):
    with (
        pytest.raises(CannotStart, match=r"/srv/x: permission denied\. Run the command as the user of the"),
        explained_errors(tmp_path),
    ):
        raise PermissionError(errno.EACCES, "Permission denied", "/srv/x")


async def test_a_folder_that_is_not_there_is_said(filled, tmp_path):
    with pytest.raises(CannotStart, match=r"the folder .*nowhere does not exist"):
        await filled.backup(tmp_path / "nowhere" / "a.tar")


async def test_a_damaged_database_is_not_backed_up(filled, tmp_path):
    if filled.settings.database_url:
        pytest.skip("the file of a SQLite database is damaged here")
    data = tmp_path / "damaged"
    data.mkdir()
    await filled.backup(tmp_path / "good.tar")
    content = bytearray((filled.settings.data_dir / "retinue.db").read_bytes())
    content[4096 * 3 : 4096 * 40] = os.urandom(4096 * 37)
    (data / "retinue.db").write_bytes(content)
    damaged = replace(filled.settings, data_dir=data)
    with pytest.raises(CannotStart, match=r"retinue\.db|database\.sqlite"):
        await asyncio.to_thread(create_backup, damaged, tmp_path / "bad.tar", None, 0)
    assert not (tmp_path / "bad.tar").exists()


@pytest.mark.parametrize("content", ["", "short\n", "\nsecond line is long enough\n"])
def test_a_short_passphrase_is_refused(tmp_path, content):
    file = tmp_path / "passphrase"
    file.write_text(content)
    with pytest.raises(BadSetting, match="first line must be at least 12 characters"):
        commands.read_passphrase(file)
    with pytest.raises(BadSetting, match="No such file"):
        commands.read_passphrase(tmp_path / "none")


def test_a_missing_program_of_postgresql_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CannotStart, match=r"pg_dump of PostgreSQL 99, .* postgresql-client-99"):
        find_tool("pg_dump", 99)


async def test_a_newer_schema_is_refused_everywhere(filled, tmp_path):
    await set_revision(filled, "9999")
    with pytest.raises(CannotStart, match="at revision 9999, this version knows up to"):
        await filled.backup(tmp_path / "a.tar")
    with pytest.raises(SchemaTooNew):
        await upgrade(filled.settings, tmp_path / "a.tar")
    await set_revision(filled, head())


async def test_an_upgrade_needs_a_backup_and_says_when_nothing_is_due(filled, tmp_path, capsys):
    await upgrade(filled.settings)
    assert capsys.readouterr().out == f"already at revision {head()}\n"
    await set_revision(filled, "0042")
    with pytest.raises(typer.Exit) as ended:
        await upgrade(filled.settings, is_check=True)
    assert ended.value.exit_code == 3
    assert "is at revision 0042 and would be migrated to" in capsys.readouterr().out
    with pytest.raises(BadSetting, match="--backup FILE, or --without-backup"):
        await upgrade(filled.settings)
    await set_revision(filled, head())


async def test_an_older_database_is_backed_up_and_migrated(tmp_path, capsys):
    """On SQLite, whose database of an older release is a file that is quickly made."""
    settings = Settings(data_dir=tmp_path / "data")
    settings.data_dir.mkdir()
    await on_connection(settings, lambda connection: command.upgrade(alembic_config(connection), "0042"))
    backup = tmp_path / "before.tar"
    await upgrade(settings, backup)
    printed = capsys.readouterr().out
    assert f"{backup}: revision 0042, " in printed
    assert f"migrated to revision {head()}\nThe vault opens and the audit log is intact, 0 rows.\n" in printed
    other = replace(settings, data_dir=tmp_path / "again")
    done = await restore(other, backup, is_without_key=True)
    assert (done.manifest.revision, await revision(other)) == ("0042", head())


async def test_a_backup_of_another_kind_of_database_is_refused(filled, tmp_path):
    file = tmp_path / "a.tar"
    done = await filled.backup(file)
    other = "" if filled.settings.database_url else "postgresql://nobody@127.0.0.1:1/none"
    settings = replace(filled.settings, data_dir=tmp_path / "new", database_url=other)
    with pytest.raises(CannotStart, match="the backup is of"):
        await asyncio.to_thread(
            commands.run_restore, settings, file, None, None, is_check=False, is_without_key=True
        )
    assert done.bytes == file.stat().st_size


def test_the_exit_codes_are_those_of_the_guide():
    page = (Path(__file__).parents[2] / "docs/guides/backup.md").read_text()
    assert BackupRefused.exit_code == 3
    assert "| 3 | the file is cut, changed, foreign" in page
