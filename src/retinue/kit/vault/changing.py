"""Changing the keys: one process at a time, and none whose vault is sealed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit import Unit
from retinue.kit.errors import VaultSealed
from retinue.kit.instance import Instance
from retinue.kit.vault.opening import hold_ring


@asynccontextmanager
async def changing_ring(instance: Instance) -> AsyncIterator[SystemDb]:
    """A transaction in which nobody else changes a key; committed at the end of the block."""
    if instance.vault.sealed_because:
        raise VaultSealed
    unit = Unit(instance.database, reads_freely=False)
    try:
        system = SystemDb(unit, instance.clock, instance.ring)
        await hold_ring(system)
        yield system
        await unit.commit()
    except BaseException:
        await unit.rollback()
        raise
