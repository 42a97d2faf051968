"""What grows old goes in short transactions: a statement that deletes some rows, to be repeated."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.db.statements import Statement

AT_ONCE = 500


def forgetting(table: sa.Table, *conditions: Any) -> Statement[Any]:
    """Delete at most `AT_ONCE` of the rows; how many it was says whether there may be more."""
    some = sa.select(table.c.id).where(*conditions).limit(AT_ONCE)
    return Statement(sa.delete(table).where(table.c.id.in_(some)))
