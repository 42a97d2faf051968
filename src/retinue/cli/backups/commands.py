"""`retinue backup`, `retinue backup verify` and `retinue restore`: their arguments and what they print."""

import dataclasses
import sys
from pathlib import Path

import typer

from retinue.cli.backups.create import create_backup, verify_backup
from retinue.cli.backups.manifest import BackupManifest
from retinue.cli.instance_folder import require_instance
from retinue.kit.durable_files import private_umask
from retinue.kit.errors import CannotStart
from retinue.kit.logging import configure_logging
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, Settings

MIN_PASSPHRASE_LENGTH = 12
_MAX_SHOWN_FILES = 5
_NOT_COMPARED = (
    "nothing was compared with a master key: the backup fits its own sums, which anybody who changes it can "
    "write as well"
)


def run_backup(settings: Settings, file: Path, passphrase_file: Path | None, keep: int) -> None:
    passphrase = read_passphrase(passphrase_file)
    require_instance(settings)
    with private_umask():
        done = create_backup(settings, file, passphrase, keep)
    typer.echo(f"{file}: {_summary(done.manifest)}, {done.bytes:,} bytes, read back")
    if done.removed:
        typer.echo(f"removed older backups: {', '.join(path.name for path in done.removed)}")
    if not done.has_key:
        _warn("the master key is missing or does not match the database, so the backup names no key")
    _warn_of_missing(done.manifest.missing)


def run_backup_verification(
    settings: Settings, file: Path, passphrase_file: Path | None, *, is_unsigned: bool = False
) -> None:
    _require_file(file)
    manifest, is_signed = verify_backup(
        settings, file, read_passphrase(passphrase_file), is_unsigned=is_unsigned
    )
    # Its own sums prove that a file is whole, not who wrote it.
    state = "intact" if is_signed else "whole"
    typer.echo(f"{file}: {state}, {_summary(manifest)}, created {manifest.created_at}")
    if is_signed:
        typer.echo("The backup belongs to the master key of this instance.")
    else:
        _warn(_NOT_COMPARED)
    _warn_of_missing(manifest.missing)


def run_restore(
    settings: Settings,
    file: Path,
    data_dir: Path | None,
    passphrase_file: Path | None,
    *,
    is_agreed: bool = False,
    **flags: bool,
) -> None:
    """Restore; `flags` are those of `RestoreOptions`, `is_agreed` answers the question about `--unsigned`."""
    # Opening an instance takes every domain; a backup does without.
    from retinue.cli.backups.restore import RestoreOptions, restore_backup

    _require_file(file)
    configure_logging(settings)
    settings = dataclasses.replace(settings, data_dir=data_dir or settings.data_dir)
    options = RestoreOptions(passphrase=read_passphrase(passphrase_file), **flags)
    if options.is_unsigned and not is_agreed:
        _ask_about_unsigned(file)
    with private_umask():
        done = restore_backup(settings, file, options)
    where = "restored and removed again" if options.is_check else f"restored into {settings.data_dir}"
    typer.echo(f"{file}: {where}: {_summary(done.manifest)}")
    typer.echo(f"The counts are those of the backup; the audit log is intact, {done.audit_rows:,} rows.")
    if not done.is_signed:
        _warn(_NOT_COMPARED)
    if done.is_sealed:
        _warn("the secrets are sealed until the server starts with the master key of the backup")
    _warn_of_missing(done.missing)


def read_passphrase(file: Path | None) -> Secret | None:
    if file is None:
        return None
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"--passphrase-file {file}: {error}") from error
    if not lines or len(lines[0]) < MIN_PASSPHRASE_LENGTH:
        raise BadSetting(
            f"--passphrase-file {file}: its first line must be at least {MIN_PASSPHRASE_LENGTH} characters"
        )
    return Secret(lines[0])


def _ask_about_unsigned(file: Path) -> None:
    """Let a person decide: who wrote the file decides who is administrator, and may run commands here."""
    if not sys.stdin.isatty():
        raise BadSetting("--unsigned asks before it restores; where nobody can answer, add --yes")
    typer.confirm(
        f"{file} may be unsigned. Who wrote it decides who is administrator of the restored instance, and "
        "with PostgreSQL may run commands on the database server. Restore it?",
        abort=True,
        err=True,
    )


def _require_file(file: Path) -> None:
    if not file.is_file():
        raise CannotStart(f"{file} does not exist or is not a file")


def _summary(manifest: BackupManifest) -> str:
    tables = len(manifest.database.tables)
    return (
        f"revision {manifest.revision}, {manifest.row_count:,} rows in {tables} tables, "
        f"{len(manifest.files):,} files"
    )


def _warn(text: str) -> None:
    typer.echo(f"retinue: warning: {text}", err=True)


def _warn_of_missing(paths: list[str]) -> None:
    if paths:
        shown = ", ".join(paths[:_MAX_SHOWN_FILES]) + (" …" if len(paths) > _MAX_SHOWN_FILES else "")
        _warn(f"{len(paths)} files that the database names are not in the store: {shown}")
