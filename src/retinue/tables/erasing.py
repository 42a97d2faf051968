"""Rows that no table has any more go in small steps, after whoever let go of them has been answered."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import Retry, job
from retinue.tables.models import rows

_AT_ONCE = 2000

_key = rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger())
_BOUND: Statement[Any] = Statement(
    sa.select(rows.c.id).where(_key).order_by(rows.c.id).limit(sa.literal(1)).offset(sa.literal(_AT_ONCE - 1))
)
_ERASE: Statement[Any] = Statement(
    sa.delete(rows).where(_key, rows.c.id <= sa.bindparam("last", type_=rows.c.id.type))
)
_LAST: Statement[Any] = Statement(sa.select(sa.func.max(rows.c.id)).where(_key))


class RowsToErase(msgspec.Struct):
    row_key: int


@job(retry=Retry((0, 30, 300, 3600)), timeout_s=1800, transactional=False)
async def erase_rows(ctx: Context, payload: RowsToErase) -> None:
    while True:
        async with ctx.unit() as unit:
            last = await unit.db.scalar(_BOUND, row_key=payload.row_key)
            is_last = last is None
            if is_last:
                last = await unit.db.scalar(_LAST, row_key=payload.row_key)
            if last is not None:
                await unit.db.execute(_ERASE, row_key=payload.row_key, last=last)
        if is_last:
            return


def erase(ctx: Context, row_key: int) -> None:
    ctx.defer(erase_rows, RowsToErase(row_key), dedupe_key=f"erase:{row_key}")
