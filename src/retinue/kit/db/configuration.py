"""The stamp of a tenant's configuration, which moves in every transaction that changes it.

What a tenant has set up (tables that say `configures`) is read far more often than it is changed. Whoever is
identified hears the stamp in the same query, and so knows whether what an earlier request has read is still
what is stored (kit/remembering.py, docs/adr/0020-configuration-is-remembered.md).
"""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.merging import Write
from retinue.kit.db.statements import Statement

_tenants = sa.table("tenants", sa.column("id", sa.Text), sa.column("configuration", sa.BigInteger))
_MOVE_ALL: Statement[Any] = Statement(
    sa.update(_tenants).values(configuration=_tenants.c.configuration + sa.literal_column("1"))
)
_MOVE: Statement[Any] = Statement(_MOVE_ALL.source.where(_tenants.c.id == sa.bindparam("whose")))


def moves(whose: Iterable[str | None], dialect: str) -> list[tuple[str, Write]]:
    """The writes that move the stamps of these tenants, or all stamps; named by what they hold."""
    tenants = {tenant_id for tenant_id in whose if tenant_id is not None}
    if len(tenants) < len(set(whose)):
        return [("tenants:", Write(_MOVE_ALL.compiled(dialect, narrow=False), []))]
    compiled = _MOVE.compiled(dialect, narrow=False)
    return [(f"tenants:{id}", Write(compiled, compiled.arguments({"whose": id}))) for id in tenants]
