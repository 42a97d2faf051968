"""Tests of the messages and exit codes of the backup commands when something fails."""

import asyncio
import errno
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retinue.cli.backups import commands
from retinue.cli.backups.create import create_backup, explained_errors
from retinue.cli.backups.manifest import BackupRefused
from retinue.cli.backups.postgres_tools import find_tool
from retinue.cli.upgrade_command import run_upgrade
from retinue.kit.errors import CannotStart
from retinue.kit.settings import BadSetting, Settings
from retinue.migrations.upgrade import (
    LAST_COMMIT_BEFORE_BASELINE,
    SchemaTooNew,
    SchemaTooOld,
    first,
    head,
)
from tests.backups.conftest import Filled, restore
from tests.contract.migrating import migrate
from tests.e2e.commands import run_command
from tests.e2e.newer_version import REVISION as NEWER
from tests.e2e.newer_version import make_newer_version
from tests.e2e.processes import ROOT, ServerProcess

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


async def test_an_upgrade_says_when_nothing_is_due(filled, capsys):
    await upgrade(filled.settings)
    assert capsys.readouterr().out == f"already at revision {head()}\n"


async def test_a_schema_from_before_the_baseline_is_refused_everywhere(filled, tmp_path):
    """The message names the commit that can bring it up, and nothing is written."""
    told = f"at revision 0042, from before 0.1.0.* with commit {LAST_COMMIT_BEFORE_BASELINE} "
    await set_revision(filled, "0042")
    before = await filled.backup(tmp_path / "old.tar")
    with pytest.raises(SchemaTooOld, match=told):
        await upgrade(filled.settings, tmp_path / "new.tar")
    with pytest.raises(SchemaTooOld, match=told):
        await migrate(filled.settings)
    with pytest.raises(SchemaTooOld, match=told):
        await restore(replace(filled.settings, data_dir=tmp_path / "new"), tmp_path / "old.tar")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "new.tar").exists()
    after = await filled.backup(tmp_path / "again.tar")
    assert after.manifest.database.tables == before.manifest.database.tables
    await set_revision(filled, head())


def test_the_last_commit_before_the_baseline_has_the_migrations_up_to_it():
    folder = "src/retinue/migrations/versions"
    command = ["git", "ls-tree", "-r", "--name-only", LAST_COMMIT_BEFORE_BASELINE, folder]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode:
        pytest.skip("needs the history of the repository")
    names = [Path(name).name[:4] for name in shown.stdout.split()]
    assert max(name for name in names if name.isdigit()) == first()
    assert len(names) > 50


async def test_an_older_database_is_backed_up_and_migrated(tmp_path):
    """On SQLite, whose database is a file; a version with one more migration upgrades it."""
    server = ServerProcess(tmp_path)
    assert (await run_command(server, "migrate")).code == 0
    newer = make_newer_version(tmp_path, is_safe=False)
    due = await run_command(server, "upgrade", "--check", **newer)
    assert due.code == 3
    assert f"is at revision {head()} and would be migrated to {NEWER}" in due.output
    unsaid = await run_command(server, "upgrade", **newer)
    assert (unsaid.code, "--backup FILE, or --without-backup" in unsaid.errors) == (2, True)
    done = await run_command(server, "upgrade", "--backup", str(tmp_path / "before.tar"), **newer)
    assert f"before.tar: revision {head()}, " in done.output
    assert (
        f"migrated to revision {NEWER}\nThe vault opens and the audit log is intact, 0 rows.\n" in done.output
    )


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
