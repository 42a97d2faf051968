"""The version stamp of a tenant's configuration, incremented by every transaction that changes it.

Configuration (tables declared with `is_configuration`) is read far more often than it is changed, and so is
what makes a principal (`identity_columns`). Every request reads the stamp, which shows whether what was
cached is still current (kit/config_cache.py, docs/adr/0020-configuration-cache.md).
"""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.db.models import metadata
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import Text
from retinue.kit.db.write_batch import PendingWrite

# Not a column of `tenants`: some transactions lock a tenant's row at their start, this row is locked at the
# end. A tenant without any change has no row.
CONFIGURATIONS = sa.Table(
    "configurations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("stamp", sa.BigInteger, nullable=False),
)


CURRENT_STAMP = Statement(
    sa.select(CONFIGURATIONS.c.stamp).where(CONFIGURATIONS.c.id == sa.bindparam("stamped_tenant"))
)


def config_version_of(tenant_id: sa.ColumnElement[str]) -> sa.ScalarSelect[int]:
    """Return a subquery for the stamp, for use in authentication; null if nothing was changed yet."""
    return sa.select(CONFIGURATIONS.c.stamp).where(CONFIGURATIONS.c.id == tenant_id).scalar_subquery()


_tenants = sa.table("tenants", sa.column("id", Text))
_all_tenants = sa.select(_tenants.c.id, sa.literal_column("1")).where(sa.literal_column("1 = 1"))


def _bump_statement(insert: Any) -> Statement[Any]:
    # The clause is the same in both dialects, so PostgreSQL's construct works for SQLite too.
    increment = {"stamp": CONFIGURATIONS.c.stamp + sa.literal_column("1")}
    return Statement(insert.on_conflict_do_update(index_elements=["id"], set_=increment))


_BUMP = _bump_statement(
    postgresql.insert(CONFIGURATIONS).values(id=sa.bindparam("tenant_id"), stamp=sa.literal_column("1"))
)
_BUMP_ALL = _bump_statement(postgresql.insert(CONFIGURATIONS).from_select(["id", "stamp"], _all_tenants))


def version_bumps(tenant_ids: Collection[str | None], dialect: str) -> list[PendingWrite]:
    """Return the writes that increment the stamps of these tenants, or all stamps if one id is None."""
    if None in tenant_ids:
        return [PendingWrite(_BUMP_ALL.compiled(dialect, narrow=False), [])]
    compiled = _BUMP.compiled(dialect, narrow=False)
    # Always in the same order, so that two transactions never deadlock.
    ids = sorted(map(str, tenant_ids))
    return [PendingWrite(compiled, compiled.arguments({"tenant_id": id})) for id in ids]
