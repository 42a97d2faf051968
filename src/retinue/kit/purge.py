"""Deletes old rows in batches, each in a short transaction."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

PURGE_BATCH_ROWS = 500


def purge_statement(table: sa.Table, *conditions: Any) -> Statement[Any]:
    """Build a statement that deletes up to `PURGE_BATCH_ROWS` rows; a full batch means there may be more."""
    batch = sa.select(table.c.id).where(*conditions).limit(PURGE_BATCH_ROWS)
    return Statement(sa.delete(table).where(table.c.id.in_(batch)))


async def purge_all_tenants(ctx: Context, statement: Statement[Any], **parameters: Any) -> None:
    """Run a `purge_statement` over the rows of all tenants until nothing is left."""
    deleted = PURGE_BATCH_ROWS
    while deleted == PURGE_BATCH_ROWS:
        async with ctx.unit() as unit:
            deleted = await unit.system("purges old rows of every tenant").execute(statement, **parameters)
