"""The stamp of a tenant's configuration, which moves in every transaction that changes it.

What a tenant has set up (tables that say `configures`) is read far more often than it is changed. Whoever is
identified hears the stamp in the same query, and so knows whether what an earlier request has read is still
what is stored (kit/remembering.py, docs/adr/0020-configuration-is-remembered.md).
"""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.merging import Write
from retinue.kit.db.statements import Statement

_tenants = sa.table("tenants", sa.column("id", sa.Text), sa.column("configuration", sa.BigInteger))
_MOVE_ALL: Statement[Any] = Statement(
    sa.update(_tenants).values(configuration=_tenants.c.configuration + sa.literal_column("1"))
)
_MOVE: Statement[Any] = Statement(_MOVE_ALL.source.where(_tenants.c.id == sa.bindparam("whose")))


def moves(whose: Collection[str | None], dialect: str) -> list[Write]:
    """The writes that move the stamps of these tenants, or all stamps where one of them is not known."""
    if None in whose:
        return [Write(_MOVE_ALL.compiled(dialect, narrow=False), [])]
    compiled = _MOVE.compiled(dialect, narrow=False)
    # In one order everywhere, so that two units never wait for each other.
    return [Write(compiled, compiled.arguments({"whose": id})) for id in sorted(map(str, whose))]
