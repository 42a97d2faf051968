"""Running processes follow the keys: a rotation by any process reaches all of them within seconds."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

import structlog

from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit import Unit
from retinue.kit.errors import RetinueError
from retinue.kit.instance import Instance
from retinue.kit.vault.key_files import root_keys
from retinue.kit.vault.models import InstanceKey, VaultKey
from retinue.kit.vault.opening import active_version, matching_root, signing_keys
from retinue.kit.vault.ring import LiveRing

log = structlog.get_logger("retinue.vault")

REFRESH_S = 5.0
LEASE_S = 3 * REFRESH_S
"""How long a process goes on sealing with a ring that it could not compare with the database."""


async def refresh_keys(instance: Instance) -> None:
    """Bring the ring and the signing keys of this process to what the database says now."""
    ring = instance.ring
    if not isinstance(ring, LiveRing):
        return
    system = SystemDb(Unit(instance.database, reads_freely=True), instance.clock, ring)
    _follow(instance, ring, await system.all(VaultKey, order_by=("version",)))
    rows = await system.all(InstanceKey)
    signing = signing_keys(rows, ring, instance.clock.now(), instance.tokens.keys.by_id())
    if signing != instance.tokens.keys:
        instance.tokens.keys = signing
        instance.vault = replace(instance.vault, signing=signing)
        log.info("signing_keys_changed", active=signing.active[0], verifying=sorted(signing.verify_only))


def _follow(instance: Instance, ring: LiveRing, stored: list[VaultKey]) -> None:
    wrapped = {row.version: row.wrapped for row in stored}
    active = active_version(stored)
    if ring.versions == wrapped.keys() and ring.active == active:
        return

    def unwrap(version: int) -> bytes:
        # Read again, because the key file may have been replaced since the start.
        root = matching_root(root_keys(instance.settings, may_create=False), stored)
        return root.unwrap(wrapped[version], version)

    ring.learn(wrapped, active, unwrap)
    log.info("key_ring_changed", active=active, versions=sorted(wrapped))


class Refresher:
    """Looks every few seconds, and at once when a value of an unknown version turns up."""

    def __init__(self, instance: Instance, *, period_s: float = REFRESH_S) -> None:
        self._instance = instance
        self._period_s = period_s
        self._lease_s = period_s * (LEASE_S / REFRESH_S)
        self._wanted = asyncio.Event()
        self._checked_at = 0.0
        self._now: Callable[[], float] = lambda: 0.0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """A sealed vault has no keys to follow; it is opened by a start with the right root key."""
        ring = self._instance.ring
        if not isinstance(ring, LiveRing) or self._task is not None:
            return
        self._now = asyncio.get_running_loop().time
        await self.check()
        ring.is_trusted = self._is_trusted
        ring.check = self.check
        ring.on_unknown_version = self._wanted.set
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def check(self) -> None:
        """Look now."""
        began_at = self._now()
        await refresh_keys(self._instance)
        self._checked_at = began_at

    def _is_trusted(self) -> bool:
        return self._now() - self._checked_at < self._lease_s

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._period_s):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                async with asyncio.timeout(self._period_s):
                    await self.check()
            except (RetinueError, TimeoutError) as error:
                log.warning("keys_not_refreshed", reason=str(error) or "the database did not answer in time")
            except Exception:
                log.exception("keys_not_refreshed")
