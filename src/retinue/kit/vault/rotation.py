"""`retinue vault rotate-key`: introduces a new key version while servers run; safe to interrupt anywhere.

1. The new version is stored as `next`; every running process learns it before anything is sealed with it.
2. It becomes active and the previous one old; all values are rewrapped in batches.
3. Once no process can seal with an old version any more, values sealed in the meantime are rewrapped.
4. Old versions without values are deleted.

A repeated run resumes an interrupted one: the remaining steps follow from the database.
"""

import asyncio
import secrets
from collections.abc import Callable
from enum import StrEnum

import msgspec
import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.crypto import SealLocation
from retinue.kit.failpoints import failpoint
from retinue.kit.vault.key_files import root_keys
from retinue.kit.vault.key_refresh import REFRESH_SECONDS, RING_LEASE_SECONDS, refresh_keys
from retinue.kit.vault.loader import require_matching_root
from retinue.kit.vault.models import KeyState, VaultKey
from retinue.kit.vault.rewrap import RewrapResult, count_outdated, rewrap_to_active, sealed_columns
from retinue.kit.vault.ring_lock import locked_ring
from retinue.kit.vault.writer_barrier import wait_for_writers

log = structlog.get_logger("retinue.vault")

_MAX_CONNECTION_WAIT_SECONDS = 30.0
_LOCKED_PAUSE_SECONDS = 0.2


class RotationTiming(msgspec.Struct, frozen=True):
    """The time given to running processes to learn a new key and to stop sealing under an old one.

    A process may seal under an old key until its lease ends, and the sealed value may then wait for a
    connection before it is written.
    """

    learn_s: float = 2 * REFRESH_SECONDS
    settle_s: float = RING_LEASE_SECONDS + _MAX_CONNECTION_WAIT_SECONDS


class RotationStage(StrEnum):
    learning = "waiting until every process knows the new key"
    wrapping = "wrapping secrets anew"
    settling = "waiting until no process uses an old key"
    finishing = "wrapping what came in meanwhile"


class RotationProgress(msgspec.Struct, frozen=True):
    """Progress of a stage: `done` of `total`, in values or in seconds."""

    stage: RotationStage
    done: float
    total: float


RotationCallback = Callable[[RotationProgress], None]


class Rotation(msgspec.Struct, kw_only=True):
    """The result of a rotation; old versions are kept while any value, even an unreadable one, needs them."""

    version: int
    moved: int
    retired: list[int]
    unreadable: list[SealLocation]


async def rotate_key(
    instance: Instance,
    *,
    pace: RotationTiming = RotationTiming(),  # noqa: B008  frozen
    watch: RotationCallback = lambda _: None,
) -> Rotation:
    """Move all values to a new key version, or finish an interrupted rotation."""
    version = await _prepare(instance)
    failpoint("rotate_prepared")
    await refresh_keys(instance)
    if instance.ring.active != version:
        await _pause(RotationStage.learning, pace.learn_s, watch)
        await _activate(instance, version)
        failpoint("rotate_activated")
        await refresh_keys(instance)
    settled_at = asyncio.get_running_loop().time() + pace.settle_s
    first = await _rewrap_all(instance, RotationStage.wrapping, watch)
    await _pause(RotationStage.settling, settled_at - asyncio.get_running_loop().time(), watch)
    await wait_for_writers(instance, sorted({column.table.name for column in sealed_columns()}))
    last = await _rewrap_all(instance, RotationStage.finishing, watch)
    retired = [] if last.unreadable else await _retire(instance, version)
    await refresh_keys(instance)
    log.info("key_rotated", version=version, retired=retired, unreadable=len(last.unreadable))
    return Rotation(
        version=version, moved=first.count + last.count, retired=retired, unreadable=last.unreadable
    )


async def _prepare(instance: Instance) -> int:
    """Return the target version: that of an unfinished rotation, else a new one."""
    async with locked_ring(instance) as system:
        stored = await system.all(VaultKey, order_by=("version",))
        newest = stored[-1]
        if newest.state is KeyState.next or len(stored) > 1:
            return newest.version
        root = require_matching_root(root_keys(instance.settings, may_create=False), stored)
        version = newest.version + 1
        wrapped = root.wrap(secrets.token_bytes(32), version)
        await system.insert(
            VaultKey(version=version, wrapped=wrapped, root_fingerprint=root.fingerprint, state=KeyState.next)
        )
        return version


async def _activate(instance: Instance, version: int) -> None:
    async with locked_ring(instance) as system:
        stored = await system.all(VaultKey)
        if not any(row.version == version and row.state is KeyState.next for row in stored):
            return  # another process has activated it
        for row in stored:
            await system.update(row, state=KeyState.active if row.version == version else KeyState.old)
        failpoint("rotate_before_activation")


async def _rewrap_all(instance: Instance, stage: RotationStage, watch: RotationCallback) -> RewrapResult:
    """Rewrap in repeated passes until only unreadable values are left."""
    total = await count_outdated(instance, instance.ring.active)
    moved = RewrapResult()
    while True:
        await rewrap_to_active(instance, moved, lambda: watch(RotationProgress(stage, moved.count, total)))
        left = await count_outdated(instance, instance.ring.active)
        if left <= len(moved.unreadable):
            return moved
        await asyncio.sleep(_LOCKED_PAUSE_SECONDS)


async def _retire(instance: Instance, version: int) -> list[int]:
    failpoint("rotate_before_retire")
    async with locked_ring(instance) as system:
        old = [row for row in await system.all(VaultKey, order_by=("version",)) if row.version < version]
        for row in old:
            await system.delete(row)
    failpoint("rotate_retired")
    return [row.version for row in old]


async def _pause(stage: RotationStage, seconds: float, watch: RotationCallback) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while (waited := loop.time() - began) < seconds:
        watch(RotationProgress(stage, waited, seconds))
        await asyncio.sleep(min(0.25, seconds - waited))
    if seconds > 0:
        watch(RotationProgress(stage, seconds, seconds))
