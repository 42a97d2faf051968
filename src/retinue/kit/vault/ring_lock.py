"""The lock for changing keys: one process at a time, and only with an open vault."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.errors import VaultSealed
from retinue.kit.vault.loader import lock_ring


@asynccontextmanager
async def locked_ring(instance: Instance) -> AsyncIterator[SystemDb]:
    """Open a transaction in which no other process can change a key; commit it at the end of the block."""
    if instance.vault.sealed_because:
        raise VaultSealed
    unit = UnitOfWork(instance.database, reads_outside_transaction=False)
    try:
        system = SystemDb(unit, instance.clock, instance.ring)
        await lock_ring(system)
        yield system
        await unit.commit()
    except BaseException:
        await unit.rollback()
        raise
