"""Sealed values that a broken disk, or a lost key, has made unreadable."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.db.statements import Statement
from tests.factories.people import People


async def spoil(
    people: People, tenant_id: str, record: type[Any], field: str, record_id: str | None = None
) -> None:
    """Change the last byte of what is sealed: in one record, or in all of the tenant."""
    table = record.__table__
    async with people.context(tenant_id) as ctx:
        rows = await ctx.db.rows(Statement(sa.select(table.c.id, table.c[field])))
        for id, sealed in rows:
            if record_id in {None, id}:
                bad = sealed[:-1] + bytes([sealed[-1] ^ 1])
                await ctx.db.execute(Statement(sa.update(table).where(table.c.id == id).values({field: bad})))
