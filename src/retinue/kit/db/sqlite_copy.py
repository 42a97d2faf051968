"""Copies of a SQLite database while others write to it, and what is in them."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from retinue.kit.db.database_content import (
    BLOBS_QUERY,
    FINGERPRINTS_QUERY,
    REVISION_QUERY,
    DatabaseContent,
    StoredBlob,
    count_query,
)
from retinue.kit.db.errors import StorageFull
from retinue.kit.durable_files import make_private_file

_STEP_PAGES = 1_000
_BUSY_SECONDS = 60.0
# The tables in which FTS5 keeps an index; they change without a change of any row.
_TABLES_QUERY = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
_HEADER = b"SQLite format 3\x00"


class DatabaseDamaged(Exception):
    """The file is no SQLite database, or parts of it cannot be read."""


def is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def copy_database(source: Path, target: Path) -> None:
    """Copy the state at one moment into a new file that only its owner may read; writers go on meanwhile.

    The open read transaction keeps the moment: without it, every commit of another process would start the
    copy again.
    """
    make_private_file(target)
    with _opened(source) as reading, contextlib.closing(_connect(str(target))) as writing:
        try:
            reading.execute("BEGIN")
            reading.execute("SELECT count(*) FROM sqlite_master").fetchone()
            reading.backup(writing, pages=_STEP_PAGES)
            # One file without companions, and no waiting for a disk: the archive is what gets synced.
            writing.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as error:
            if (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF == sqlite3.SQLITE_FULL:
                raise StorageFull from error
            raise DatabaseDamaged(f"{source}: {error}") from error


def require_integrity(path: Path) -> None:
    with _opened(path) as connection:
        try:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
        except sqlite3.Error as error:
            raise DatabaseDamaged(f"{path}: {error}") from error
    if found != "ok":
        raise DatabaseDamaged(f"{path}: {found}")
    if orphan is not None:
        raise DatabaseDamaged(f"{path}: a row of {orphan[0]} refers to a row of {orphan[2]} that is missing")


def read_content(path: Path) -> DatabaseContent:
    with _opened(path) as connection:
        try:
            names = [name for (name,) in connection.execute(_TABLES_QUERY)]
            tables = {name: int(connection.execute(count_query(name)).fetchone()[0]) for name in names}
            revision = connection.execute(REVISION_QUERY).fetchone()
            blobs = connection.execute(BLOBS_QUERY).fetchall() if "files" in tables else []
            roots = connection.execute(FINGERPRINTS_QUERY).fetchall() if "vault_keys" in tables else []
        except sqlite3.Error as error:
            raise DatabaseDamaged(f"{path}: {error}") from error
    return DatabaseContent(
        revision=str(revision[0]) if revision else "",
        tables=tables,
        blobs=[StoredBlob(*row) for row in blobs],
        root_fingerprints=frozenset(str(row[0]) for row in roots),
    )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database that exists; a writable handle, because a reader of a WAL database needs its index."""
    try:
        connection = _connect(f"{path.absolute().as_uri()}?mode=rw")
    except sqlite3.Error as error:
        raise DatabaseDamaged(f"{path}: {error}") from error
    with contextlib.closing(connection):
        yield connection


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address, uri=address.startswith("file:"), isolation_level=None, timeout=_BUSY_SECONDS
    )
