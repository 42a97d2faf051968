"""The database that the settings name."""

from pathlib import Path

from retinue.kit.db.engine import Database
from retinue.kit.db.sqlite import SqliteDatabase
from retinue.kit.settings import BadSetting, Settings


def is_postgres(settings: Settings) -> bool:
    return settings.database_url.startswith(("postgresql://", "postgres://"))


def direct_url(settings: Settings) -> str:
    """Return the URL for what needs a session of its own: migrations, backups and notifications."""
    return settings.database_direct_url or settings.database_url


def database_for(settings: Settings, *, is_command: bool = False) -> Database:
    """Return the database, not yet opened; connections of a command do not count as a running server."""
    url = settings.database_url
    if is_postgres(settings):
        # Its driver is imported only where it is used: 50 ms of every other start.
        from retinue.kit.db.postgres import PostgresDatabase

        return PostgresDatabase(
            url,
            direct_url=settings.database_direct_url,
            prepared_statements=settings.database_prepared_statements,
            pool_size=settings.database_pool,
            is_command=is_command,
        )
    return SqliteDatabase(sqlite_path(settings))


def sqlite_path(settings: Settings) -> Path:
    url = settings.database_url
    if not url:
        return settings.data_dir / "retinue.db"
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    raise BadSetting("RETINUE_DATABASE_URL must start with postgresql:// or sqlite:///")
