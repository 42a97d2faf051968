"""Bulk inserts in the open transaction: `COPY` on PostgreSQL, one prepared insert on SQLite."""

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.fence import FenceRefused
from retinue.kit.db.models import metadata
from retinue.kit.db.session import Db


async def insert_rows(
    db: Db, table: sa.Table, columns: tuple[str, ...], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows of plain values in the order of `columns`, stamped with the tenant of `db`.

    JSON is passed as text. A conflict ends the transaction, without naming the row.
    """
    if table.metadata is not metadata or "tenant_id" not in table.c or "tenant_id" in columns:
        raise FenceRefused(f"rows of {table.name} cannot be stamped with the tenant")
    if not rows:
        return
    connection = await db._unit.begin()  # noqa: SLF001  bypasses the statements of the same unit
    stamped = [(db.tenant_id, *row) for row in rows]
    names = ("tenant_id", *columns)
    copy = getattr(connection, "copy", None)
    if copy is not None:
        await copy(table.name, names, stamped)
    else:
        await connection.execute_many(_insert(table.name, names), stamped)  # type: ignore[arg-type]


@functools.cache
def _insert(table: str, names: tuple[str, ...]) -> str:
    parameters = ", ".join("?" * len(names))
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({parameters})"  # noqa: S608  our own tables
