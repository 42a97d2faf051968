"""Forward only, in one transaction, by one process at a time; a newer schema than ours is refused."""

import asyncio
import re
import sqlite3
from pathlib import Path
from typing import Any

from retinue.kit.db.databases import direct_url, sqlite_path
from retinue.kit.db.engine import Database
from retinue.kit.errors import CannotStart
from retinue.kit.settings import Settings

_HERE = Path(__file__).parent
_REVISION = re.compile(r"^(\d{4})_")
_LOCK = 7_266_117


class SchemaTooNew(CannotStart):
    """The database belongs to a newer version of Retinue."""


def head() -> str:
    """The newest revision, read from the file names: migrations are numbered and linear."""
    found = [match[1] for path in (_HERE / "versions").glob("*.py") if (match := _REVISION.match(path.name))]
    return max(found)


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


async def upgrade(settings: Settings, database: Database, *, only_if_empty: bool = False) -> bool:
    """Whether anything had to be done.

    `only_if_empty` is for commands that look: they do not migrate somebody's production on the way.
    """
    at = await current(database)
    if at == head():
        return False
    if at is not None and at > head():
        raise SchemaTooNew(f"the database is at revision {at}, this version knows up to {head()}")
    if at is not None and only_if_empty:
        raise CannotStart(f"the database is at revision {at}, not {head()}: run `retinue migrate` first")
    if database.dialect == "sqlite":
        await asyncio.to_thread(_upgrade_sqlite, sqlite_path(settings))
    else:
        if settings.database_direct_url:
            await _require_direct_connection(settings.database_direct_url)
        await _upgrade_postgres(direct_url(settings))
    return True


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
