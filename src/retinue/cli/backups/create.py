"""Creates a backup while the server runs: the database at one moment, then the blobs that it names."""

import asyncio
import contextlib
import errno
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from retinue import __version__
from retinue.cli.backups.archive import SourceChanged, open_archive, sum_of, write_archive
from retinue.cli.backups.manifest import (
    FORMAT,
    ArchivedDatabase,
    BackupManifest,
    BackupRefused,
    require_signed,
    sign,
)
from retinue.cli.backups.postgres_tools import dump
from retinue.cli.backups.sources import collect_files
from retinue.kit.clock import SystemClock
from retinue.kit.crypto import RootKey
from retinue.kit.db.database_content import DatabaseContent
from retinue.kit.db.databases import direct_url, is_postgres, sqlite_path
from retinue.kit.db.errors import StorageFull
from retinue.kit.db.sqlite_copy import DatabaseDamaged, copy_database, read_content, require_integrity
from retinue.kit.durable_files import replace_private_file, sync_folder
from retinue.kit.errors import CannotStart
from retinue.kit.last_backup import LAST_BACKUP, LastBackup
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault import root_keys
from retinue.migrations.upgrade import head

_DIGITS = re.compile(r"\d+")


class FinishedBackup(msgspec.Struct, frozen=True):
    manifest: BackupManifest
    bytes: int
    removed: list[Path]
    has_key: bool


def create_backup(settings: Settings, file: Path, passphrase: Secret | None, keep: int) -> FinishedBackup:
    """Write the backup beside its final name, read it back, rename it, and only then remove older ones."""
    if file.exists():
        raise CannotStart(f"{file} exists already. A backup never replaces a file: choose another name.")
    if keep and not _DIGITS.search(file.name):
        raise CannotStart("--keep needs a date in the file's name, such as retinue-20261117.tar")
    with explained_errors(file.parent), _staging(file) as staging:
        draft = staging / "archive"
        manifest, sources = asyncio.run(_collect(settings, staging))
        write_archive(draft, manifest, sources, passphrase)
        _read_back(draft, manifest, passphrase)
        draft.rename(file)
        sync_folder(file.parent)
    size = file.stat().st_size
    last = LastBackup(manifest.created_at, str(file.absolute()), size)
    with contextlib.suppress(OSError):
        replace_private_file(settings.data_dir / LAST_BACKUP, msgspec.json.encode(last))
    removed = _remove_older(file, keep) if keep else []
    return FinishedBackup(manifest, size, removed, manifest.key_check is not None)


@contextlib.contextmanager
def explained_errors(place: Path) -> Iterator[None]:
    """Turn what the system refuses into one line that says what to do."""
    try:
        yield
    except StorageFull:
        raise _disk_full(place) from None
    except (DatabaseDamaged, SourceChanged) as error:
        raise CannotStart(str(error)) from error
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise _disk_full(place) from error
        if isinstance(error, PermissionError):
            raise CannotStart(
                f"{error.filename or place}: permission denied. Run the command as the user of the server, "
                "and let this user write to the folder."
            ) from error
        raise CannotStart(f"{error.filename or place}: {error.strerror or error}") from error


def _disk_full(place: Path) -> CannotStart:
    free = shutil.disk_usage(place).free if place.exists() else 0
    return CannotStart(f"the disk is full: {free:,} bytes are free below {place}. Nothing was left behind.")


@contextlib.contextmanager
def _staging(file: Path) -> Iterator[Path]:
    """Create a folder beside the file for what is copied first; it never outlives the command."""
    if not file.parent.is_dir():
        raise CannotStart(f"the folder {file.parent} does not exist")
    folder = file.parent / f".{file.name}.{secrets.token_hex(8)}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _collect(settings: Settings, staging: Path) -> tuple[BackupManifest, dict[str, Path]]:
    created_at = SystemClock().now()
    if is_postgres(settings):
        database, content, copy = await _dump_postgres(settings, staging)
    else:
        database, content, copy = await asyncio.to_thread(_copy_sqlite, sqlite_path(settings), staging)
    if content.revision > head():
        raise CannotStart(
            f"the database is at revision {content.revision}, this version knows up to {head()}: back it up "
            "with the version that runs it"
        )
    files = await collect_files(settings, content.blobs, staging)
    manifest = BackupManifest(
        format=FORMAT,
        version=__version__,
        revision=content.revision,
        created_at=created_at,
        database=database,
        files=files.entries,
        files_in="bucket" if settings.files_url else "archive",
        missing=files.missing,
    )
    root = _matching_root(settings, content)
    return sign(manifest, root) if root else manifest, {database.path: copy, **files.paths}


def _matching_root(settings: Settings, content: DatabaseContent) -> RootKey | None:
    for root in root_keys(settings, may_create=False):
        if content.root_fingerprints == {root.fingerprint}:
            return root
    return None


def _copy_sqlite(source: Path, staging: Path) -> tuple[ArchivedDatabase, DatabaseContent, Path]:
    _require_space(staging, 2 * source.stat().st_size)
    copy = staging / "database.sqlite"
    copy_database(source, copy)
    require_integrity(copy)
    content = read_content(copy)
    size, sha256 = sum_of(copy)
    return (
        ArchivedDatabase(
            kind="sqlite", path="database.sqlite", bytes=size, sha256=sha256, tables=content.tables
        ),
        content,
        copy,
    )


async def _dump_postgres(settings: Settings, staging: Path) -> tuple[ArchivedDatabase, DatabaseContent, Path]:
    from retinue.kit.db.postgres_copy import open_snapshot

    copy = staging / "database.dump"
    url = direct_url(settings)
    async with open_snapshot(url) as snapshot:
        major = snapshot.server_major
        await dump(url, snapshot.id, copy, major)
        content = await snapshot.read_content()
    size, sha256 = await asyncio.to_thread(sum_of, copy)
    database = ArchivedDatabase(
        kind="postgresql",
        path="database.dump",
        bytes=size,
        sha256=sha256,
        tables=content.tables,
        server=major,
    )
    return database, content, copy


def _require_space(place: Path, needed: int) -> None:
    free = shutil.disk_usage(place).free
    if free < needed:
        raise CannotStart(
            f"the disk is full: the backup needs about {needed:,} bytes and {free:,} are free below "
            f"{place.parent}"
        )


def _read_back(draft: Path, written: BackupManifest, passphrase: Secret | None) -> None:
    with open_archive(draft, passphrase) as reader:
        if reader.manifest != written:
            raise BackupRefused("the backup was not written as it should be; check the disk")
        reader.read_all()


def verify_backup(
    settings: Settings, file: Path, passphrase: Secret | None, *, is_unsigned: bool = False
) -> tuple[BackupManifest, bool]:
    """Read the whole file; the flag says whether a root key of the settings has signed it.

    Where there is such a key, a file that it did not sign is refused, unless it may be unsigned.
    """
    with explained_errors(file.parent), open_archive(file, passphrase) as reader:
        roots = root_keys(settings, may_create=False)
        root = require_signed(reader.manifest, roots, may_be_unsigned=is_unsigned or not roots)
        reader.read_all()
    return reader.manifest, root is not None


def _remove_older(file: Path, keep: int) -> list[Path]:
    """Remove all but the newest; only files whose names differ from this one in their digits alone count."""
    pattern = re.compile(_DIGITS.sub(r"\\d+", re.escape(file.name)))
    found = [path for path in file.parent.iterdir() if pattern.fullmatch(path.name) and path.is_file()]
    # The one just written stays, even if the clock was set back since the others were.
    others = sorted((path for path in found if path != file), key=lambda path: path.stat().st_mtime_ns)
    removed = others[: max(0, len(found) - keep)]
    for path in removed:
        path.unlink()
    return removed
