"""Whether the settings name an instance; imported by commands that should start fast."""

import typer

from retinue.kit.db.databases import sqlite_path
from retinue.kit.settings import Settings


def require_instance(settings: Settings) -> None:
    """End the command if there is no instance, instead of creating an empty one and reporting on that."""
    if not settings.database_url and not sqlite_path(settings).exists():
        typer.echo(
            f"retinue: there is no instance in {settings.data_dir.absolute()}. Run the command in the folder "
            "of the server, or set RETINUE_DATA_DIR.",
            err=True,
        )
        raise typer.Exit(1)
