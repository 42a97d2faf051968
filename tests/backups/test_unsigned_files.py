"""A backup that no master key at hand has signed is refused before anything of it is unpacked or run."""

import asyncio
import contextlib
import hashlib
import io
import json
import os
import pty
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from retinue.cli.backups.create import verify_backup
from retinue.cli.backups.manifest import BackupRefused, decode, encode, sign
from retinue.cli.backups.postgres_tools import find_tool
from retinue.cli.backups.postgres_tools import restore as pg_restore
from retinue.kit.crypto import RootKey
from retinue.kit.db.databases import direct_url
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault import KEY_FILE
from tests.backups.conftest import Filled, restore
from tests.databases import SERVER
from tests.e2e.processes import drop_database, make_database
from tests.factories.people import ADMIN_EMAIL

OTHER_KEY = "q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80="
Members = dict[str, bytes]
only_sqlite = pytest.mark.skipif(bool(SERVER), reason="the database of this backup is an SQLite file")


def members_of(file: Path) -> Members:
    with tarfile.open(file) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def pack_members(members: Members) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def with_manifest(members: Members, change: Callable[[Any], None]) -> Members:
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    return {**members, "manifest.json": json.dumps(manifest).encode()}


def without_checks(manifest: Any) -> None:
    manifest.update(key_check=None, manifest_check=None)


def forge_database(members: Members, database: bytes) -> Members:
    """Return the backup with another database, its sums corrected and its checks deleted."""

    def correct(manifest: Any) -> None:
        entry = manifest["database"]
        entry.update(bytes=len(database), sha256=hashlib.sha256(database).hexdigest())
        without_checks(manifest)

    name = json.loads(members["manifest.json"])["database"]["path"]
    return with_manifest({**members, name: database}, correct)


def sign_as_stranger(members: Members) -> Members:
    stranger = RootKey.parse(Secret(OTHER_KEY))
    return {**members, "manifest.json": encode(sign(decode(members["manifest.json"]), stranger))}


@pytest.fixture
async def plain(filled: Filled, tmp_path: Path) -> Path:
    await filled.backup(tmp_path / "plain.tar")
    return tmp_path / "plain.tar"


def promote_stranger(database: bytes, folder: Path) -> bytes:
    """Return the SQLite database with an administrator whom nobody made one."""
    file = folder / "promoted.sqlite"
    file.write_bytes(database)
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE users SET email = 'mallory@example.com' WHERE email = ?", [ADMIN_EMAIL])
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.read_bytes()


@only_sqlite
@pytest.mark.parametrize("is_check", [False, True], ids=["restore", "check"])
async def test_a_changed_database_without_checks_is_refused(plain, target, tmp_path, is_check):
    members = members_of(plain)
    file = tmp_path / "forged.tar"
    file.write_bytes(
        pack_members(forge_database(members, promote_stranger(members["database.sqlite"], tmp_path)))
    )
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BackupRefused, match="not signed with a master key"):
        await restore(target, file, is_check=is_check)
    assert [path.name for path in target.data_dir.iterdir()] == [KEY_FILE]
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(BackupRefused, match="not signed with a master key"):
        verify_backup(target, file, None)
    # The change is a real one: who allows it gets it.
    done = await restore(target, file, is_unsigned=True)
    assert done.is_signed is False
    with contextlib.closing(sqlite3.connect(target.data_dir / "retinue.db")) as connection:
        assert connection.execute("SELECT 1 FROM users WHERE email LIKE 'mallory@%'").fetchone() == (1,)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: with_manifest(m, without_checks), "not signed with a master key"),
        (lambda m: with_manifest(m, lambda found: found.pop("key_check")), "not signed with a master key"),
        (lambda m: with_manifest(m, lambda found: found.update(manifest_check=None)), "manifest .* changed"),
        (lambda m: with_manifest(m, lambda found: found.update(manifest_check="é")), "manifest .* changed"),
        (lambda m: with_manifest(m, lambda found: found.update(key_check="é")), "another master key"),
        (lambda m: with_manifest(m, lambda found: found.update(version="0.0.1")), "manifest .* changed"),
        (lambda m: with_manifest(m, lambda found: found.update(format=0)), "there is no format 0"),
        (lambda m: with_manifest(m, lambda found: found.update(format=-1)), "there is no format -1"),
        (lambda m: with_manifest(m, lambda found: found["files"].clear()), "manifest .* changed"),
        (sign_as_stranger, "belongs to another master key"),
    ],
    ids=[
        "deleted",
        "absent",
        "half",
        "half-not-ascii",
        "not-ascii",
        "edited",
        "format-0",
        "negative-format",
        "fewer-files",
        "stranger",
    ],
)
async def test_it_is_refused_before_anything_is_unpacked(plain, target, tmp_path, change, match):
    """Only the manifest is left of these files, so whatever reads on complains of something else."""
    file = tmp_path / "forged.tar"
    changed = change(members_of(plain))
    file.write_bytes(pack_members({"manifest.json": changed["manifest.json"]}))
    for is_check in (False, True):
        with pytest.raises(BackupRefused, match=match):
            await restore(target, file, is_check=is_check)
    with pytest.raises(BackupRefused, match=match):
        await asyncio.to_thread(verify_backup, target, file, None)
    assert [path.name for path in target.data_dir.iterdir()] == [KEY_FILE]


async def test_what_the_signed_manifest_does_not_name_is_refused_even_if_unsigned(plain, target, tmp_path):
    members = members_of(plain)
    stream = io.BytesIO(plain.read_bytes())
    with tarfile.open(fileobj=stream, mode="a") as tar:
        again = next(name for name in members if name.startswith("files/"))
        for name in (again, "scripts/extra.sh"):
            member = tarfile.TarInfo(name)
            member.size = 4
            tar.addfile(member, io.BytesIO(b"evil"))
    file = tmp_path / "extra.tar"
    file.write_bytes(stream.getvalue())
    for options in ({}, {"is_unsigned": True}, {"is_without_key": True}):
        with pytest.raises(BackupRefused, match="a file that its manifest does not name"):
            await restore(target, file, **options)
    assert [path.name for path in target.data_dir.iterdir()] == [KEY_FILE]


async def test_a_manifest_of_ours_that_was_changed_is_refused_even_if_unsigned(plain, target, tmp_path):
    file = tmp_path / "changed.tar"
    file.write_bytes(
        pack_members(with_manifest(members_of(plain), lambda found: found.update(version="0.0.1")))
    )
    with pytest.raises(BackupRefused, match="manifest of the backup was changed"):
        await restore(target, file, is_unsigned=True)


async def test_a_second_manifest_changes_nothing(plain, target, tmp_path):
    """The manifest is read once: another one later in the tar is a file that nobody named."""
    stream = io.BytesIO(plain.read_bytes())
    content = with_manifest(members_of(plain), without_checks)["manifest.json"]
    with tarfile.open(fileobj=stream, mode="a") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    file = tmp_path / "two.tar"
    file.write_bytes(stream.getvalue())
    with pytest.raises(BackupRefused, match="does not name"):
        await restore(target, file)


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment of a command on these settings, without those of the test run."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RETINUE_")}
    named = {
        "RETINUE_DATA_DIR": str(settings.data_dir),
        "RETINUE_DATABASE_URL": settings.database_url,
        "RETINUE_DATABASE_DIRECT_URL": settings.database_direct_url,
    }
    return {**inherited, **{name: value for name, value in named.items() if value}}


async def run_command(settings: Settings, *arguments: str | Path, code: int = 0) -> str:
    """Run a command and return everything it prints."""
    ran = await asyncio.to_thread(
        subprocess.run,
        (sys.executable, "-m", "retinue.cli", *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment_of(settings),
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout
    return ran.stdout


@pytest.mark.campaign
async def test_the_commands_say_what_was_compared(plain, target, tmp_path):
    """`intact` is said only of what a key has vouched for."""
    text = await run_command(target, "backup", "verify", plain)
    assert ": intact, " in text
    assert "belongs to the master key of this instance" in text
    unsigned = tmp_path / "unsigned.tar"
    unsigned.write_bytes(pack_members(with_manifest(members_of(plain), without_checks)))
    keyless = replace(target, data_dir=tmp_path / "nowhere")
    for text in (
        await run_command(keyless, "backup", "verify", plain),
        await run_command(target, "backup", "verify", unsigned, "--unsigned"),
        await run_command(target, "restore", unsigned, "--check", "--without-key"),
        await run_command(target, "restore", unsigned, "--check", "--unsigned", "--yes"),
    ):
        assert "nothing was compared with a master key" in text
        assert ": intact" not in text
    assert "not signed with a master key" in await run_command(target, "backup", "verify", unsigned, code=3)
    assert "not signed with a master key" in await run_command(target, "restore", unsigned, "--check", code=3)
    refused = await run_command(target, "restore", unsigned, "--check", "--unsigned", code=2)
    assert "where nobody can answer, add --yes" in refused
    assert "--unsigned is for verify" in await run_command(
        target, "backup", tmp_path / "x", "--unsigned", code=2
    )


@only_sqlite
@pytest.mark.parametrize(("answer", "is_restored"), [("y\n", True), ("n\n", False)])
async def test_a_terminal_is_asked(plain, target, tmp_path, answer, is_restored):
    file = tmp_path / "unsigned.tar"
    file.write_bytes(pack_members(with_manifest(members_of(plain), without_checks)))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        (sys.executable, "-m", "retinue.cli", "restore", str(file), "--unsigned"),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment_of(target),
        text=True,
    )
    os.write(ours, answer.encode())
    text, _ = await asyncio.to_thread(process.communicate)
    os.close(ours)
    os.close(theirs)
    assert "Who wrote it decides who is administrator" in text
    found = (process.returncode == 0, (target.data_dir / "retinue.db").exists())
    assert found == (is_restored, is_restored), text


@pytest.fixture
def marker() -> Iterator[Path]:
    """A file that the server of the database, another user, could create."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder) / "was-here"


@pytest.fixture
async def scratch(worker_id: str) -> AsyncIterator[str]:
    name = f"retinue_forged_{os.getpid()}_{worker_id}"
    yield await make_database(SERVER, name)
    await drop_database(SERVER, name)


async def dump_that_runs_a_command(dump: bytes, url: str, folder: Path, command: str) -> bytes:
    """Return the dump with a view whose filling, a part of every restore, runs a command of the shell."""
    original, evil = folder / "original.dump", folder / "evil.dump"
    original.write_bytes(dump)
    connection = await asyncpg.connect(url)
    major = connection.get_server_version().major
    await pg_restore(url, original, major)
    await connection.execute(
        "CREATE FUNCTION public.payload() RETURNS int LANGUAGE plpgsql AS $$ BEGIN"
        f" COPY (SELECT 1) TO PROGRAM '{command}'; RETURN 1; END $$;"
        " CREATE MATERIALIZED VIEW public.payload_runs AS SELECT public.payload() AS ran"
    )
    await connection.close()
    arguments = ("--format=custom", "--no-owner", "--no-privileges", f"--file={evil}", f"--dbname={url}")
    await asyncio.to_thread(subprocess.run, (find_tool("pg_dump", major), *arguments), check=True)
    return evil.read_bytes()


@pytest.mark.skipif(not SERVER, reason="needs a PostgreSQL: its dumps are programs")
async def test_a_changed_dump_runs_nothing(filled, target: Settings, tmp_path, scratch, marker):
    await filled.backup(tmp_path / "plain.tar")
    members = members_of(tmp_path / "plain.tar")
    dump = members["database.dump"]
    # The command reads what it is sent: the server calls one that does not a broken pipe, now and then.
    evil = await dump_that_runs_a_command(dump, scratch, tmp_path, f"cat > {marker}")
    assert marker.exists(), "the command would run"
    marker.unlink()
    file = tmp_path / "forged.tar"
    file.write_bytes(pack_members(forge_database(members, evil)))
    for is_check in (True, False):
        with pytest.raises(BackupRefused, match="not signed with a master key"):
            await restore(target, file, is_check=is_check)
    with pytest.raises(BackupRefused, match="not signed with a master key"):
        await asyncio.to_thread(verify_backup, target, file, None)
    assert not marker.exists()
    connection = await asyncpg.connect(direct_url(target))
    assert await connection.fetchval("SELECT count(*) FROM pg_class WHERE relname = 'users'") == 0
    await connection.close()
    # What the question about --unsigned warns of is true.
    await restore(target, file, is_check=True, is_unsigned=True)
    assert marker.exists()
