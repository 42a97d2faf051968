"""Key refresh: a rotation by any process reaches all running processes within seconds."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.errors import RetinueError
from retinue.kit.vault.key_files import root_keys
from retinue.kit.vault.loader import active_version, require_matching_root, signing_keys
from retinue.kit.vault.models import InstanceKey, VaultKey
from retinue.kit.vault.ring import LiveRing

log = structlog.get_logger("retinue.vault")

REFRESH_SECONDS = 5.0
RING_LEASE_SECONDS = 3 * REFRESH_SECONDS
"""How long a process may seal with a ring that it could not compare with the database."""


async def refresh_keys(instance: Instance) -> None:
    """Update this process's ring and signing keys from the database."""
    ring = instance.ring
    if not isinstance(ring, LiveRing):
        return
    system = SystemDb(UnitOfWork(instance.database, reads_outside_transaction=True), instance.clock, ring)
    _update_ring(instance, ring, await system.all(VaultKey, order_by=("version",)))
    rows = await system.all(InstanceKey)
    signing = signing_keys(rows, ring, instance.clock.now(), instance.tokens.keys.by_id())
    if signing != instance.tokens.keys:
        instance.tokens.keys = signing
        instance.vault = replace(instance.vault, signing=signing)
        log.info("signing_keys_changed", active=signing.active[0], verifying=sorted(signing.verify_only))


def _update_ring(instance: Instance, ring: LiveRing, stored: list[VaultKey]) -> None:
    wrapped = {row.version: row.wrapped for row in stored}
    active = active_version(stored)
    if ring.versions == wrapped.keys() and ring.active == active:
        return

    def unwrap(version: int) -> bytes:
        # Read again: the key file may have been replaced since startup.
        root = require_matching_root(root_keys(instance.settings, may_create=False), stored)
        return root.unwrap(wrapped[version], version)

    ring.learn(wrapped, active, unwrap)
    log.info("key_ring_changed", active=active, versions=sorted(wrapped))


class KeyRefresher:
    """Refreshes the keys every few seconds, and at once after a value with an unknown key version."""

    def __init__(self, instance: Instance, *, period_s: float = REFRESH_SECONDS) -> None:
        self._instance = instance
        self._period_s = period_s
        self._lease_s = period_s * (RING_LEASE_SECONDS / REFRESH_SECONDS)
        self._refresh_requested = asyncio.Event()
        self._checked_at = 0.0
        self._now: Callable[[], float] = lambda: 0.0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start refreshing, unless the vault is sealed: that takes a restart with the right root key."""
        ring = self._instance.ring
        if not isinstance(ring, LiveRing) or self._task is not None:
            return
        self._now = asyncio.get_running_loop().time
        await self.check()
        ring.is_trusted = self._is_trusted
        ring.check = self.check
        ring.on_unknown_version = self._refresh_requested.set
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def check(self) -> None:
        """Refresh the keys now."""
        began_at = self._now()
        await refresh_keys(self._instance)
        self._checked_at = began_at

    def _is_trusted(self) -> bool:
        return self._now() - self._checked_at < self._lease_s

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._period_s):
                    await self._refresh_requested.wait()
            self._refresh_requested.clear()
            try:
                async with asyncio.timeout(self._period_s):
                    await self.check()
            except (RetinueError, TimeoutError) as error:
                log.warning("keys_not_refreshed", reason=str(error) or "the database did not respond in time")
            except Exception:
                log.exception("keys_not_refreshed")
