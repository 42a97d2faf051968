"""`retinue vault rotate-key`: a new key version while servers run, in steps that may be cut off anywhere.

1. The new version is stored as `next`, and every running process learns it before anything is sealed with it.
2. It becomes active, the one before it old; all values are wrapped anew in batches.
3. Once no process can seal with an old version any more, what came in meanwhile is wrapped too.
4. When no value is left on them, the old versions are deleted.

Running it again goes on where it ended: what is to be done is read from the database each time.
"""

import asyncio
import secrets
from collections.abc import Callable
from enum import StrEnum

import msgspec
import structlog

from retinue.kit.crypto import Place
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance
from retinue.kit.vault.barrier import writers_ended
from retinue.kit.vault.changing import changing_ring
from retinue.kit.vault.key_files import root_keys
from retinue.kit.vault.models import KeyState, VaultKey
from retinue.kit.vault.opening import matching_root
from retinue.kit.vault.refresh import LEASE_S, REFRESH_S, refresh_keys
from retinue.kit.vault.rewrapping import Moved, count_behind, move_to_active, sealed_columns

log = structlog.get_logger("retinue.vault")

_LONGEST_WAIT_S = 30.0
_LOCKED_PAUSE_S = 0.2


class Pace(msgspec.Struct, frozen=True):
    """How long running processes are given: to learn a key, and to be done with sealing under an old one.

    Until it is done a process seals for at most its lease, and a sealed value may then wait for a connection
    before it is written.
    """

    learn_s: float = 2 * REFRESH_S
    settle_s: float = LEASE_S + _LONGEST_WAIT_S


class Stage(StrEnum):
    learning = "waiting until every process knows the new key"
    wrapping = "wrapping secrets anew"
    settling = "waiting until no process uses an old key"
    finishing = "wrapping what came in meanwhile"


class Progress(msgspec.Struct, frozen=True):
    """`done` of `total` values, or of so many seconds."""

    stage: Stage
    done: float
    total: float


Watch = Callable[[Progress], None]


class Rotation(msgspec.Struct, kw_only=True):
    """How it ended; old versions are kept while a value needs them, be it unreadable."""

    version: int
    moved: int
    retired: list[int]
    unreadable: list[Place]


async def rotate_key(
    instance: Instance,
    *,
    pace: Pace = Pace(),  # noqa: B008  frozen
    watch: Watch = lambda _: None,
) -> Rotation:
    """Seal everything under a new key version, or finish a rotation that was cut off."""
    version = await _prepare(instance)
    failpoint("rotate_prepared")
    await refresh_keys(instance)
    if instance.ring.active != version:
        await _pause(Stage.learning, pace.learn_s, watch)
        await _activate(instance, version)
        failpoint("rotate_activated")
        await refresh_keys(instance)
    settled_at = asyncio.get_running_loop().time() + pace.settle_s
    first = await _move(instance, Stage.wrapping, watch)
    await _pause(Stage.settling, settled_at - asyncio.get_running_loop().time(), watch)
    await writers_ended(instance, sorted({column.table.name for column in sealed_columns()}))
    last = await _move(instance, Stage.finishing, watch)
    retired = [] if last.unreadable else await _retire(instance, version)
    await refresh_keys(instance)
    log.info("key_rotated", version=version, retired=retired, unreadable=len(last.unreadable))
    return Rotation(
        version=version, moved=first.count + last.count, retired=retired, unreadable=last.unreadable
    )


async def _prepare(instance: Instance) -> int:
    """The version to move to: the one of an unfinished rotation, else a new one."""
    async with changing_ring(instance) as system:
        stored = await system.all(VaultKey, order_by=("version",))
        newest = stored[-1]
        if newest.state is KeyState.next or len(stored) > 1:
            return newest.version
        root = matching_root(root_keys(instance.settings, may_create=False), stored)
        version = newest.version + 1
        wrapped = root.wrap(secrets.token_bytes(32), version)
        await system.insert(
            VaultKey(version=version, wrapped=wrapped, root_fingerprint=root.fingerprint, state=KeyState.next)
        )
        return version


async def _activate(instance: Instance, version: int) -> None:
    async with changing_ring(instance) as system:
        stored = await system.all(VaultKey)
        if not any(row.version == version and row.state is KeyState.next for row in stored):
            return  # another process has activated it meanwhile
        for row in stored:
            await system.update(row, state=KeyState.active if row.version == version else KeyState.old)
        failpoint("rotate_before_activation")


async def _move(instance: Instance, stage: Stage, watch: Watch) -> Moved:
    """Pass after pass until nothing is left but what cannot be read."""
    total = await count_behind(instance, instance.ring.active)
    moved = Moved()
    while True:
        await move_to_active(instance, moved, lambda: watch(Progress(stage, moved.count, total)))
        left = await count_behind(instance, instance.ring.active)
        if left <= len(moved.unreadable):
            return moved
        await asyncio.sleep(_LOCKED_PAUSE_S)


async def _retire(instance: Instance, version: int) -> list[int]:
    failpoint("rotate_before_retire")
    async with changing_ring(instance) as system:
        old = [row for row in await system.all(VaultKey, order_by=("version",)) if row.version < version]
        for row in old:
            await system.delete(row)
    failpoint("rotate_retired")
    return [row.version for row in old]


async def _pause(stage: Stage, seconds: float, watch: Watch) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while (waited := loop.time() - began) < seconds:
        watch(Progress(stage, waited, seconds))
        await asyncio.sleep(min(0.25, seconds - waited))
    if seconds > 0:
        watch(Progress(stage, seconds, seconds))
