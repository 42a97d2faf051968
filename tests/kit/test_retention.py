"""Tests of retention: old rows are deleted in parts, in every tenant, and no others."""

import sqlalchemy as sa

from retinue.kit.purge import PURGE_BATCH_ROWS, purge_all_tenants, purge_statement
from tests.kit.workshop import Mark, Workshop

_marks = Mark.__table__
_NAMED = purge_statement(_marks, _marks.c.name == sa.bindparam("name"))


async def test_what_is_too_much_for_one_transaction_goes_in_several(workshop: Workshop) -> None:
    for tenant, count in (("ten_a", PURGE_BATCH_ROWS), ("ten_b", 3)):
        async with workshop.context(tenant) as ctx:
            for number in range(count + 2):
                await ctx.db.insert_at_commit(Mark(name="old" if number else "young"))
    async with workshop.context() as ctx:
        await purge_all_tenants(ctx.detached(), _NAMED, name="old")
        left = await ctx.system("marks of every tenant").all(Mark)
    assert sorted((mark.tenant_id, mark.name) for mark in left) == [("ten_a", "young"), ("ten_b", "young")]
