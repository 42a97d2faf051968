"""Restores a backup into an empty place: everything is checked before anything has its final name."""

import asyncio
import contextlib
import dataclasses
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from retinue.adapters.blobs import BlobMissing, blobs_for
from retinue.cli.backups.archive import BackupReader, Sink, open_archive
from retinue.cli.backups.create import explained_errors
from retinue.cli.backups.manifest import (
    ArchivedFile,
    BackupManifest,
    BackupRefused,
    DatabaseKind,
    require_signed,
)
from retinue.cli.backups.postgres_tools import restore as run_pg_restore
from retinue.cli.maintenance import count_intact_audit_rows
from retinue.kit.crypto import RootKey
from retinue.kit.db.database_content import DatabaseContent
from retinue.kit.db.databases import direct_url, is_postgres, sqlite_path
from retinue.kit.db.sqlite_copy import read_content, require_integrity
from retinue.kit.durable_files import make_private_folder, sync_folder
from retinue.kit.errors import CannotStart
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault import KEY_FILE, root_keys
from retinue.migrations.upgrade import head, require_known
from retinue.wiring import close_instance, command_settings, open_instance

_STAGING = ".restore-"
_KEPT_NAMES = {KEY_FILE, "models"}
"""Files that a folder may contain before a restore: the key that was put there, and downloaded models."""
_DATABASE_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


class RestoredInstance(msgspec.Struct, frozen=True):
    manifest: BackupManifest
    audit_rows: int
    missing: list[str]
    is_sealed: bool
    is_signed: bool
    """Whether a root key at hand vouched for the backup; otherwise nothing was compared with a key."""


class RestoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    passphrase: Secret | None
    is_check: bool
    is_without_key: bool
    is_unsigned: bool = False
    """Whether a backup may be restored that no root key at hand has signed."""


def restore_backup(settings: Settings, file: Path, options: RestoreOptions) -> RestoredInstance:
    """Restore into the data dir of the settings, or into a temporary place if it is only a check."""
    with explained_errors(settings.data_dir.parent), open_archive(file, options.passphrase) as reader:
        manifest = reader.manifest
        _require_usable(manifest, settings)
        root = None if options.is_without_key else _require_key(manifest, settings, options)
        if not options.is_check:
            _require_empty(settings.data_dir)
        return asyncio.run(_restore(settings, reader, root, options))


def _require_usable(manifest: BackupManifest, settings: Settings) -> None:
    if manifest.revision > head():
        raise BackupRefused(
            f"the backup is at revision {manifest.revision}, this version knows up to {head()}. Restore it "
            f"with Retinue {manifest.version} or newer."
        )
    require_known(manifest.revision, "the backup")
    kind: DatabaseKind = "postgresql" if is_postgres(settings) else "sqlite"
    if kind != manifest.database.kind:
        here, there = _DATABASE_NAMES[kind], _DATABASE_NAMES[manifest.database.kind]
        raise CannotStart(f"the backup is of {there}, but RETINUE_DATABASE_URL stands for {here}")
    if kind == "sqlite" and sqlite_path(settings).parent != settings.data_dir:
        raise CannotStart("a restored SQLite database is in the data dir: unset RETINUE_DATABASE_URL")


def _require_key(manifest: BackupManifest, settings: Settings, options: RestoreOptions) -> RootKey | None:
    """Return the root key that signed the backup; None if it may be unsigned and is."""
    roots = root_keys(settings, may_create=False)
    if not roots:
        raise CannotStart(
            f"there is no master key. Set RETINUE_MASTER_KEY or put {KEY_FILE} into {settings.data_dir}; "
            "--without-key restores everything but leaves the secrets sealed"
        )
    return require_signed(manifest, roots, may_be_unsigned=options.is_unsigned)


def _require_empty(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise CannotStart(f"{folder} is not a folder")
    for leftover in folder.glob(f"{_STAGING}*"):
        shutil.rmtree(leftover)
    found = sorted(path.name for path in folder.iterdir() if path.name not in _KEPT_NAMES)
    if "retinue.db" in found:
        raise CannotStart(
            f"{folder} contains an instance. Stop its server and move the folder away, or restore into "
            "another one: --data-dir"
        )
    if found:
        raise CannotStart(f"{folder} is not empty: it contains {found[0]}. Restore into an empty folder.")


async def _restore(
    settings: Settings, reader: BackupReader, root: RootKey | None, options: RestoreOptions
) -> RestoredInstance:
    with _staging(settings.data_dir, is_check=options.is_check) as staging:
        await asyncio.to_thread(reader.read_all, _sink_below(staging))
        async with _database(settings, staging, reader.manifest, is_check=options.is_check) as staged:
            await _require_equal_content(staged, reader.manifest)
            restored = await _verify(staged, settings, reader.manifest, root, options)
        if not options.is_check:
            await asyncio.to_thread(_move_into_place, staging, settings.data_dir)
    return restored


@contextlib.contextmanager
def _staging(data_dir: Path, *, is_check: bool) -> Iterator[Path]:
    """Create the folder that is written first: on the same file system, so that renaming ends the restore."""
    make_private_folder(data_dir.absolute().parent)
    # An existing folder may be a mount, which cannot be replaced: then its entries are renamed one by one.
    parent = data_dir if data_dir.is_dir() and not is_check else data_dir.absolute().parent
    staging = parent / f"{_STAGING}{secrets.token_hex(8)}"
    staging.mkdir(mode=0o700)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _sink_below(staging: Path) -> Sink:
    @contextlib.contextmanager
    def sink(entry: ArchivedFile, is_executable: bool) -> Iterator[BinaryIO]:
        name = "retinue.db" if entry.path == "database.sqlite" else entry.path
        target = staging / name
        make_private_folder(target.parent)
        mode = 0o700 if is_executable and entry.path != "database.sqlite" else 0o600
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    return sink


@contextlib.asynccontextmanager
async def _database(
    settings: Settings, staging: Path, manifest: BackupManifest, *, is_check: bool
) -> AsyncIterator[Settings]:
    """Yield the settings of the staged instance, whose database is restored but not migrated."""
    if manifest.database.kind == "sqlite":
        await asyncio.to_thread(require_integrity, staging / "retinue.db")
        yield dataclasses.replace(settings, data_dir=staging, database_url="")
        return
    from retinue.kit.db.postgres_copy import has_tables, read_server_major, temporary_database

    url, copy = direct_url(settings), staging / manifest.database.path
    async with contextlib.AsyncExitStack() as stack:
        if is_check:
            name = f"retinue_check_{secrets.token_hex(6)}"
            url = await stack.enter_async_context(temporary_database(url, name))
        elif await has_tables(url):
            setting = (
                "RETINUE_DATABASE_DIRECT_URL" if settings.database_direct_url else "RETINUE_DATABASE_URL"
            )
            raise CannotStart(
                f"the database of {setting} is not empty. Stop its server, and set {setting} to an empty one."
            )
        await run_pg_restore(url, copy, await read_server_major(url))
        copy.unlink()
        # A pooler need not know the database of a check, so the restored one is opened directly.
        yield dataclasses.replace(settings, data_dir=staging, database_url=url, database_direct_url="")


async def _require_equal_content(staged: Settings, manifest: BackupManifest) -> None:
    content = await _content(staged)
    expected = manifest.database.tables
    if content.revision != manifest.revision:
        raise BackupRefused(f"the database is at revision {content.revision}, not at {manifest.revision}")
    for table in sorted(expected.keys() | content.tables.keys()):
        found = content.tables.get(table)
        if found != expected.get(table):
            raise BackupRefused(f"{table} has {found} rows, but {expected.get(table)} were backed up")


async def _content(staged: Settings) -> DatabaseContent:
    if not is_postgres(staged):
        return await asyncio.to_thread(read_content, sqlite_path(staged))
    from retinue.kit.db.postgres_copy import read_content as read_postgres

    return await read_postgres(direct_url(staged))


async def _verify(
    staged: Settings,
    settings: Settings,
    manifest: BackupManifest,
    root: RootKey | None,
    options: RestoreOptions,
) -> RestoredInstance:
    """Migrate the restored database, open its keys and verify every audit chain."""
    key = root.encoded() if root is not None else None
    if root is None and not options.is_without_key:
        # The manifest names no key, so the database itself decides about the one at hand.
        key = root_keys(settings, may_create=False)[0].encoded()
    opened = dataclasses.replace(command_settings(staged), master_key=key, metrics=False, redis_url="")
    instance = await open_instance(opened, is_command=True)
    try:
        is_sealed = bool(instance.vault.sealed_because)
        if is_sealed and not options.is_without_key:
            raise BackupRefused(
                f"the restored secrets cannot be opened: {instance.vault.sealed_because}. --without-key "
                "leaves them sealed"
            )
        rows = await count_intact_audit_rows(instance, BackupRefused)
    finally:
        await close_instance(instance)
    missing = [*manifest.missing, *await _missing_objects(settings, manifest)]
    return RestoredInstance(manifest, rows, sorted({*missing}), is_sealed, root is not None)


async def _missing_objects(settings: Settings, manifest: BackupManifest) -> list[str]:
    """Return the objects that the backup names and the bucket no longer has, or has with another size."""
    if not manifest.in_bucket:
        return []
    if not settings.files_url:
        raise CannotStart("the files of this backup are in a bucket: set RETINUE_FILES_URL")
    store, missing = blobs_for(settings), []
    try:
        for file in manifest.in_bucket:
            try:
                is_whole = await store.size(file.path.removeprefix("files/")) == file.bytes
            except BlobMissing:
                is_whole = False
            if not is_whole:
                missing.append(file.path)
    finally:
        await store.close()
    return missing


def _move_into_place(staging: Path, data_dir: Path) -> None:
    """Rename what was restored; the database comes last, because it is what makes a folder an instance."""
    for name in ("tmp", "metrics"):
        shutil.rmtree(staging / name, ignore_errors=True)
    if staging.parent != data_dir:
        staging.rename(data_dir)
        sync_folder(data_dir.absolute().parent)
        return
    for path in sorted(staging.iterdir(), key=lambda path: path.name.startswith("retinue.db")):
        path.rename(data_dir / path.name)
    sync_folder(data_dir)
