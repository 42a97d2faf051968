"""What grows old is deleted by parts, in every tenant, and nothing else is."""

import sqlalchemy as sa

from retinue.kit.db.forgetting import AT_ONCE, forget_everywhere, forgetting
from tests.kit.workshop import Mark, Workshop

_marks = Mark.__table__
_NAMED = forgetting(_marks, _marks.c.name == sa.bindparam("name"))


async def test_what_is_too_much_for_one_transaction_goes_in_several(workshop: Workshop) -> None:
    for tenant, count in (("ten_a", AT_ONCE), ("ten_b", 3)):
        async with workshop.context(tenant) as ctx:
            for number in range(count + 2):
                await ctx.db.insert_at_commit(Mark(name="old" if number else "young"))
    async with workshop.context() as ctx:
        await forget_everywhere(ctx.apart(), _NAMED, name="old")
        left = await ctx.system("marks of every tenant").all(Mark)
    assert sorted((mark.tenant_id, mark.name) for mark in left) == [("ten_a", "young"), ("ten_b", "young")]
