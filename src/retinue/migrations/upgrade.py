"""Forward only, in one transaction, by one process at a time; a newer schema than ours is refused."""

import ast
import asyncio
import re
import sqlite3
from pathlib import Path
from typing import Any

from retinue.kit.db.databases import database_for, direct_url, is_postgres, sqlite_path
from retinue.kit.db.engine import Database
from retinue.kit.db.running_servers import find_servers
from retinue.kit.errors import CannotStart
from retinue.kit.settings import Settings
from retinue.migrations.sqlite_turn import sqlite_turn

SAFETY_MARK = "is_safe_beside_previous"
"""The name that a migration sets to True if servers of the version before go on working after it."""
LAST_COMMIT_BEFORE_BASELINE = "3da9129"
"""The last commit that has the migrations which the first file in `versions` replaced."""
_HERE = Path(__file__).parent
_REVISION = re.compile(r"^(\d{4})_")
_LOCK = 7_266_117


class SchemaTooNew(CannotStart):
    """The database belongs to a newer version of Retinue."""


class SchemaTooOld(CannotStart):
    """The database is older than the first migration of this version."""


class ServerRunning(CannotStart):
    """Servers of an earlier version use the database, and a pending migration would break them."""


def migration_files() -> dict[str, Path]:
    """Return the migrations by revision, in order."""
    versions = sorted((_HERE / "versions").glob("*.py"))
    return {match[1]: path for path in versions if (match := _REVISION.match(path.name))}


def head() -> str:
    """The newest revision, read from the file names: migrations are numbered and linear."""
    return max(migration_files())


def first() -> str:
    """The oldest revision that can be migrated: the baseline, which makes the whole schema."""
    return min(migration_files())


def require_known(revision: str, what: str = "the database") -> None:
    """Raise if this version can neither use nor migrate a database or a backup at this revision."""
    if revision > head():
        raise SchemaTooNew(f"{what} is at revision {revision}, this version knows up to {head()}")
    if revision < first():
        raise SchemaTooOld(
            f"{what} is at revision {revision}, from before 0.1.0, and this version knows no way from there. "
            f"Bring it to revision {first()} with commit {LAST_COMMIT_BEFORE_BASELINE} (git checkout, then "
            "retinue upgrade). Nothing was changed."
        )


def unsafe_after(revision: str) -> list[str]:
    """Return the migrations after a revision that are not marked as safe beside the version before."""
    return [
        number
        for number, path in migration_files().items()
        if number > revision and not read_safety_mark(path.read_text())
    ]


def read_safety_mark(source: str) -> bool | None:
    """Return what a migration says about servers of the version before it; None if it says nothing."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if SAFETY_MARK in names and isinstance(statement.value, ast.Constant):
                return statement.value.value is True
    return None


async def current(database: Database) -> str | None:
    """The revision of the database, without loading Alembic."""
    where = (
        "SELECT name FROM sqlite_master WHERE type='table' AND name='alembic_version'"
        if database.dialect == "sqlite"
        else "SELECT to_regclass('alembic_version')::text WHERE to_regclass('alembic_version') IS NOT NULL"
    )
    if not await database.fetch(where, []):
        return None
    rows = await database.fetch("SELECT version_num FROM alembic_version", [])
    return str(rows[0][0]) if rows else None


async def read_revision(settings: Settings) -> str | None:
    """The revision of the database that the settings name; None if it is empty or a file not yet there."""
    if is_postgres(settings):
        # Its driver is imported only where it is used.
        from retinue.kit.db.postgres_command import command_connection
        from retinue.kit.db.postgres_faults import URL_SETTING

        async with command_connection(settings.database_url, URL_SETTING) as connection:
            if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
                return None
            found = await connection.fetchval("SELECT version_num FROM alembic_version")
            return str(found) if found else None
    if not sqlite_path(settings).exists():
        return None
    database = database_for(settings, is_command=True)
    await database.open()
    try:
        return await current(database)
    finally:
        await database.close()


async def upgrade(settings: Settings, *, only_if_empty: bool = False) -> bool:
    """Whether anything had to be done.

    `only_if_empty` is for commands that look: they do not migrate somebody's production on the way. The
    caller has no connection of its own open, for it would be taken for a running server's.
    """
    at = await read_revision(settings)
    if at == head():
        return False
    if at is not None:
        require_known(at)
    if at is not None and only_if_empty:
        raise CannotStart(f"the database is at revision {at}, not {head()}: run `retinue migrate` first")
    await _prepare(settings)
    if is_postgres(settings):
        if settings.database_direct_url:
            await _require_direct_connection(settings.database_direct_url)
        if at is not None:
            await require_no_server(settings, at)
        await _upgrade_postgres(direct_url(settings))
        return True
    async with sqlite_turn(sqlite_path(settings)):
        # Another process may have had its turn meanwhile.
        at = await read_revision(settings)
        if at is not None and at != head():
            await require_no_server(settings, at)
        await asyncio.to_thread(_upgrade_sqlite, sqlite_path(settings))
    return True


async def require_no_server(settings: Settings, at: str) -> None:
    """Refuse while a server uses the database, unless every migration after `at` is safe beside it."""
    unsafe = unsafe_after(at)
    if not unsafe:
        return

    async def is_done() -> bool:
        # Another new process may have migrated, and it is its server that was found.
        return await read_revision(settings) == head()

    found = await find_servers(settings, is_done)
    if found:
        raise ServerRunning(
            f"{found}, and the way from revision {at} to {head()} is not safe beside a server of the version "
            f"before ({', '.join(unsafe)}). Stop all servers and workers of this instance, then try again."
        )


async def _prepare(settings: Settings) -> None:
    """Create the file of an SQLite database as it is to be; refuse a server that could lose work."""
    database = database_for(settings, is_command=True)
    await database.open()
    await database.close()


def alembic_config(connection: Any) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.attributes["connection"] = connection
    return config


def _run(connection: Any) -> None:
    from alembic import command

    command.upgrade(alembic_config(connection), "head")


def _upgrade_sqlite(path: Path) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 60})

    @sa.event.listens_for(engine, "connect")
    def _manual(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None

    with engine.connect() as connection:
        # The write lock is the lock against a second process; the loser then finds nothing to do.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        _run(connection)
        connection.commit()
    engine.dispose()


async def _require_direct_connection(url: str) -> None:
    from retinue.kit.db.postgres_faults import DIRECT_URL_SETTING, require_connection

    await require_connection(url, DIRECT_URL_SETTING)


async def _upgrade_postgres(url: str) -> None:
    import sqlalchemy as sa
    from sqlalchemy.ext.asyncio import create_async_engine

    _, _, rest = url.partition("://")
    # Unnamed statements only: without a direct URL, this may be a pooler that keeps no others.
    unnamed = {
        "statement_cache_size": 0,
        "prepared_statement_cache_size": 0,
        "prepared_statement_name_func": str,
    }
    engine = create_async_engine(f"postgresql+asyncpg://{rest}", connect_args=unnamed)
    async with engine.begin() as connection:
        await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK})
        await connection.run_sync(_run)
    await engine.dispose()
