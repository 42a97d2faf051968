"""Waiting for the transactions of others that are open now, without keeping anybody from writing."""

import asyncio
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.instance import Instance

_LOOK_S = 0.1


async def writers_ended(instance: Instance, tables: list[str]) -> None:
    """Return once every transaction that has written to these tables by now has ended."""
    database = instance.database
    if database.dialect == "sqlite":
        # One writer at a time: our turn comes when the present one has ended.
        await database.rollback(await database.begin())
        return
    writing = _writing(tables)
    system = SystemDb(Unit(database, reads_freely=True), instance.clock, instance.ring)
    awaited = frozenset(await system.rows(writing))
    while awaited:
        await asyncio.sleep(_LOOK_S)
        writers: list[str] = await system.rows(writing)
        awaited = awaited.intersection(writers)


def _writing(tables: list[str]) -> Statement[str]:
    """PostgreSQL's transactions that hold the lock which every change of a table takes until its end."""
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
