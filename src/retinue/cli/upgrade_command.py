"""`retinue upgrade`: back up, migrate, and check what came out."""

import asyncio
import dataclasses
from pathlib import Path

import typer

from retinue.cli.backups.commands import read_passphrase, run_backup
from retinue.cli.instance_folder import require_instance
from retinue.cli.maintenance import count_intact_audit_rows, run_migrations
from retinue.kit.errors import CannotStart
from retinue.kit.logging import configure_logging
from retinue.kit.settings import BadSetting, Settings
from retinue.migrations.upgrade import head, read_revision, require_known, require_no_server, unsafe_after
from retinue.wiring import close_instance, command_settings, open_instance


def run_upgrade(
    settings: Settings, backup: Path | None, passphrase_file: Path | None, *, is_check: bool, is_unsafe: bool
) -> None:
    """Migrate an existing database; `is_unsafe` means without a backup."""
    configure_logging(settings)
    require_instance(settings)
    read_passphrase(passphrase_file)
    revision = asyncio.run(_revision(settings))
    require_known(revision)
    if revision == head():
        typer.echo(f"already at revision {revision}")
        return
    if is_check:
        typer.echo(f"the database is at revision {revision} and would be migrated to {head()}")
        typer.echo(
            "Servers have to be stopped for it." if unsafe_after(revision) else "Servers may go on meanwhile."
        )
        raise typer.Exit(3)
    if backup is None and not is_unsafe:
        raise BadSetting("name the backup to write before the migration: --backup FILE, or --without-backup")
    # Before the backup, which may take long and would lack what a server writes meanwhile.
    asyncio.run(require_no_server(settings, revision))
    if backup is not None:
        run_backup(settings, backup, passphrase_file, 0)
    run_migrations(settings)
    rows = asyncio.run(_verify(settings))
    typer.echo(f"The vault opens and the audit log is intact, {rows:,} rows.")


async def _revision(settings: Settings) -> str:
    revision = await read_revision(settings)
    if revision is None:
        raise CannotStart("the database is empty. Start the server, or restore a backup.")
    return revision


async def _verify(settings: Settings) -> int:
    quiet = dataclasses.replace(command_settings(settings), metrics=False)
    instance = await open_instance(quiet, is_command=True)
    try:
        if instance.vault.sealed_because:
            raise CannotStart(f"migrated, but the vault is sealed: {instance.vault.sealed_because}")
        return await count_intact_audit_rows(instance, lambda reason: CannotStart(f"migrated, but {reason}"))
    finally:
        await close_instance(instance)
