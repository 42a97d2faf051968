"""Deletion of rows that no longer belong to a table, in small batches after the response."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tables.job_kinds import ERASE_ROWS, RowsToErase
from retinue.tables.models import rows

_BATCH_SIZE = 2000

_key = rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger())
_LAST_OF_BATCH = Statement(
    sa.select(rows.c.id)
    .where(_key)
    .order_by(rows.c.id)
    .limit(sa.literal(1))
    .offset(sa.literal(_BATCH_SIZE - 1))
)
_ERASE = Statement(sa.delete(rows).where(_key, rows.c.id <= sa.bindparam("last", type_=rows.c.id.type)))
_LAST = Statement(sa.select(sa.func.max(rows.c.id)).where(_key))


async def erase_rows(ctx: Context, payload: RowsToErase) -> None:
    while True:
        async with ctx.unit() as unit:
            last = await unit.db.scalar(_LAST_OF_BATCH, row_key=payload.row_key)
            is_last = last is None
            if is_last:
                last = await unit.db.scalar(_LAST, row_key=payload.row_key)
            if last is not None:
                await unit.db.execute(_ERASE, row_key=payload.row_key, last=last)
        if is_last:
            return


def enqueue_row_erasure(ctx: Context, row_key: int) -> None:
    ctx.defer(ERASE_ROWS, RowsToErase(row_key), dedupe_key=f"erase:{row_key}")
