"""A barrier that waits for open write transactions without blocking new ones."""

import asyncio
from typing import Any

import sqlalchemy as sa

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork

_POLL_SECONDS = 0.1


async def wait_for_writers(instance: Instance, tables: list[str]) -> None:
    """Wait until every transaction that has already written to these tables has ended."""
    database = instance.database
    if database.dialect == "sqlite":
        # SQLite has one writer at a time: a transaction begins once the current one has ended.
        await database.rollback(await database.begin())
        return
    writing = _writing(tables)
    system = SystemDb(UnitOfWork(database, reads_outside_transaction=True), instance.clock, instance.ring)
    awaited = frozenset(await system.rows(writing))
    while awaited:
        await asyncio.sleep(_POLL_SECONDS)
        writers: list[str] = await system.rows(writing)
        awaited = awaited.intersection(writers)


def _writing(tables: list[str]) -> Statement[str]:
    """Select the PostgreSQL transactions that hold the row-exclusive lock of a writer on these tables."""
    locks = sa.table(
        "pg_locks", *map(sa.column, ("locktype", "mode", "database", "relation", "virtualtransaction"))
    )
    tables_of = sa.table("pg_class", *map(sa.column, ("oid", "relname")))
    databases = sa.table("pg_database", *map(sa.column, ("oid", "datname")))
    columns: Any = (
        sa.select(locks.c.virtualtransaction)
        .select_from(
            locks.join(tables_of, tables_of.c.oid == locks.c.relation).join(
                databases, databases.c.oid == locks.c.database
            )
        )
        .where(
            locks.c.locktype == "relation",
            locks.c.mode == "RowExclusiveLock",
            databases.c.datname == sa.func.current_database(),
            sa.or_(*(tables_of.c.relname == name for name in tables)),
        )
        .distinct()
    )
    return Statement(columns, lambda row: str(row[0]))
