"""The stamp of a tenant's configuration, which moves in every transaction that changes it.

What a tenant has set up (tables that say `configures`) is read far more often than it is changed. Whoever is
identified hears the stamp in the same query, and so knows whether what an earlier request has read is still
what is stored (kit/remembering.py, docs/adr/0020-configuration-is-remembered.md).
"""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.db.merging import Write
from retinue.kit.db.models import metadata
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import Text

# Not a column of the tenants: their rows are held from the beginning of some transactions, and this one is
# held at the end of all. A tenant that has not changed anything yet has no row.
CONFIGURATIONS = sa.Table(
    "configurations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("stamp", sa.BigInteger, nullable=False),
)


def stamp_of(tenant_id: sa.ColumnElement[str]) -> sa.ScalarSelect[int]:
    """For queries that tell who is asking; null where nothing was changed yet."""
    return sa.select(CONFIGURATIONS.c.stamp).where(CONFIGURATIONS.c.id == tenant_id).scalar_subquery()


_tenants = sa.table("tenants", sa.column("id", Text))
_all_tenants = sa.select(_tenants.c.id, sa.literal_column("1")).where(sa.literal_column("1 = 1"))


def _moving(insert: Any) -> Statement[Any]:
    # Both dialects write the clause alike, so PostgreSQL's construct serves SQLite too.
    moved = {"stamp": CONFIGURATIONS.c.stamp + sa.literal_column("1")}
    return Statement(insert.on_conflict_do_update(index_elements=["id"], set_=moved))


_MOVE = _moving(
    postgresql.insert(CONFIGURATIONS).values(id=sa.bindparam("whose"), stamp=sa.literal_column("1"))
)
_MOVE_ALL = _moving(postgresql.insert(CONFIGURATIONS).from_select(["id", "stamp"], _all_tenants))


def moves(whose: Collection[str | None], dialect: str) -> list[Write]:
    """The writes that move the stamps of these tenants, or all stamps where one of them is not known."""
    if None in whose:
        return [Write(_MOVE_ALL.compiled(dialect, narrow=False), [])]
    compiled = _MOVE.compiled(dialect, narrow=False)
    # In one order everywhere, so that two units never wait for each other.
    return [Write(compiled, compiled.arguments({"whose": id})) for id in sorted(map(str, whose))]
