"""A database for the tests of one process: a copied SQLite file, or an emptied PostgreSQL database."""

import asyncio
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from retinue.kit.db.models import metadata
from retinue.kit.settings import Settings
from retinue.migrations.upgrade import upgrade

SERVER = os.environ.get("RETINUE_TEST_DATABASE_URL", "")


class Databases:
    """`fresh(folder)` gives the URL of an empty, migrated database."""

    def __init__(self, home: Path, worker: str) -> None:
        self._home = home
        self._name = f"retinue_test_{os.getpid()}_{worker}"
        self._url = ""
        # Kept: PostgreSQL reads about all tables for a new connection, which takes longer than emptying them.
        self._connection: asyncpg.Connection | None = None

    async def prepare(self) -> None:
        if SERVER:
            await self._create()
            settings = Settings(database_url=self._url, data_dir=self._home)
        else:
            settings = Settings(data_dir=self._home)
        await upgrade(settings)

    async def fresh(self, folder: Path) -> str:
        if SERVER:
            if self._connection is None or self._connection.is_closed():
                self._connection = await asyncpg.connect(self._url)
            tables = [
                table.name for table in reversed(metadata.sorted_tables) if not table.name.startswith("test_")
            ]
            await self._connection.execute(";".join(f'DELETE FROM "{name}"' for name in tables))
            return self._url
        await asyncio.to_thread(shutil.copy, self._home / "retinue.db", folder / "retinue.db")
        return ""

    async def _create(self) -> None:
        parts = urlsplit(SERVER)
        connection = await asyncpg.connect(SERVER)
        await connection.execute(f'CREATE DATABASE "{self._name}"')
        await connection.close()
        self._url = urlunsplit(parts._replace(path=f"/{self._name}"))

    async def drop(self) -> None:
        if self._url:
            connection = await asyncpg.connect(SERVER)
            await connection.execute(f'DROP DATABASE IF EXISTS "{self._name}" WITH (FORCE)')
            await connection.close()
