"""What grows old goes in short transactions: a statement that deletes some rows, to be repeated."""

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from retinue.kit.db.statements import Statement

if TYPE_CHECKING:
    from retinue.kit.context import Context

AT_ONCE = 500


def forgetting(table: sa.Table, *conditions: Any) -> Statement[Any]:
    """Delete at most `AT_ONCE` of the rows; how many it was says whether there may be more."""
    some = sa.select(table.c.id).where(*conditions).limit(AT_ONCE)
    return Statement(sa.delete(table).where(table.c.id.in_(some)))


async def forget_everywhere(ctx: "Context", statement: Statement[Any], **given: Any) -> None:
    """Carry out a statement of `forgetting` for the rows of all tenants."""
    gone = AT_ONCE
    while gone == AT_ONCE:
        async with ctx.unit() as unit:
            gone = await unit.system("what is old goes in every tenant").execute(statement, **given)
