"""Migrations in processes that are killed on the way, and what a database has beside what is declared.

`python -m tests.contract.migrating FOLDER URL 1 5 9` kills at these statements and migrates again after each.
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

from retinue import domains
from retinue.kit.db.databases import sqlite_path
from retinue.kit.db.models import metadata
from retinue.kit.db.word_index import WORD_INDEXES, fts5_ddl
from retinue.kit.settings import Settings
from retinue.migrations.upgrade import read_revision, upgrade

assert domains.DOMAINS, "the records are declared by importing them"


async def migrate(settings: Settings) -> bool:
    """Migrate the database; return whether there was anything to do."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return await upgrade(settings)


async def revision(settings: Settings) -> str | None:
    return await read_revision(settings)


async def on_connection(settings: Settings, action: Callable[[sa.Connection], Any]) -> Any:
    """Run something of SQLAlchemy's in a transaction on the database."""
    if settings.database_url:
        url = settings.database_url.replace("postgresql://", "postgresql+asyncpg://")
    else:
        url = f"sqlite:///{sqlite_path(settings)}"
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            found = action(connection)
        engine.dispose()
        return found
    remote = create_async_engine(url)
    async with remote.begin() as connection:
        found = await connection.run_sync(action)
    await remote.dispose()
    return found


def _is_ours(_object: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:
    """Tests and benchmarks declare records of their own in the same process."""
    return kind != "table" or not (name or "").startswith(("test_", "bench_"))


def _is_plain(name: str | None) -> bool:
    """SQLite keeps an index of words as a virtual table, which cannot be compared, and tables below it."""
    return not (name or "").startswith(tuple(WORD_INDEXES))


def _word_indexes(connection: sa.Connection) -> list[Any]:
    """Indexes of words that SQLite was told of in other words than the records say."""
    stored = dict(connection.exec_driver_sql("SELECT name, sql FROM sqlite_master").all())
    return [("word_index", name) for name in WORD_INDEXES if stored.get(name) != fts5_ddl(name)]


async def differences(settings: Settings) -> list[Any]:
    """Return the differences between the database and the declared records."""

    def compare(connection: sa.Connection) -> list[Any]:
        on_sqlite = connection.dialect.name == "sqlite"

        def include(object_: Any, name: str | None, kind: str, *more: Any) -> bool:
            return _is_ours(object_, name, kind, *more) and (
                kind != "table" or not on_sqlite or _is_plain(name)
            )

        options = {"compare_type": True, "compare_server_default": True, "include_object": include}
        found = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
        return [*found, *(_word_indexes(connection) if on_sqlite else [])]

    return await on_connection(settings, compare)


async def empty(settings: Settings) -> None:
    """Delete everything in the database."""
    if not settings.database_url:
        for path in settings.data_dir.glob("retinue.db*"):
            path.unlink()
        return
    await on_connection(
        settings, lambda connection: connection.exec_driver_sql("DROP SCHEMA public CASCADE") and None
    )
    await on_connection(
        settings, lambda connection: connection.exec_driver_sql("CREATE SCHEMA public") and None
    )


class Countdown:
    """Kill this process at the n-th statement or commit that SQLAlchemy is about to send."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.sent = 0

    def step(self, *_: Any) -> None:
        self.sent += 1
        if self.sent == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        sa.event.listen(sa.Engine, "before_cursor_execute", self.step)
        sa.event.listen(sa.Engine, "commit", self.step)


async def migrate_until(settings: Settings, at: int) -> None:
    countdown = Countdown(at)
    countdown.watch()
    await migrate(settings)
    print(json.dumps({"statements": countdown.sent}), flush=True)  # noqa: T201  this is what the test reads


async def finish(settings: Settings) -> None:
    left = await revision(settings)
    migrated = await migrate(settings)
    found = {
        "left": left,
        "migrated": migrated,
        "revision": await revision(settings),
        "differences": [str(difference) for difference in await differences(settings)],
        "again": await migrate(settings),
    }
    print(json.dumps(found), flush=True)  # noqa: T201


def in_a_process(work: Any) -> int:
    """Run it in a forked process; return its exit code, or minus the signal that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        asyncio.run(work)
    except BaseException:  # noqa: BLE001  a forked process must not return into the loop of its parent
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main() -> None:
    settings = Settings(data_dir=Path(sys.argv[1]), database_url=sys.argv[2])
    for at in map(int, sys.argv[3:]):
        for work in (empty(settings), migrate_until(settings, at), finish(settings)):
            code = in_a_process(work)
            work.close()
            print(json.dumps({"at": at, "ended": code}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
