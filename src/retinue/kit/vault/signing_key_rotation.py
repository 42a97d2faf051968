"""`retinue vault rotate-signing-key`: a new key signs tokens; the previous one verifies until they expire."""

import asyncio
import secrets

import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.crypto import Sealed
from retinue.kit.failpoints import failpoint
from retinue.kit.vault.key_refresh import REFRESH_SECONDS, refresh_keys
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState
from retinue.kit.vault.ring_lock import locked_ring

log = structlog.get_logger("retinue.vault")

MAX_TOKEN_LIFETIME_SECONDS = 15 * 60
# Covers processes that sign with the old key until their next refresh, and clock differences.
_RETIRE_MARGIN_SECONDS = 5 * 60


async def rotate_signing_key(instance: Instance, *, learn_s: float = 2 * REFRESH_SECONDS) -> str:
    """Introduce a new signing key, which every process learns before it is used, and return its id.

    A repeated run resumes an interrupted one.
    """
    key_id = await _prepare(instance)
    failpoint("rotate_signing_prepared")
    await asyncio.sleep(learn_s)
    await _activate(instance, key_id)
    await refresh_keys(instance)
    log.info("signing_key_rotated", key=key_id)
    return key_id


async def _prepare(instance: Instance) -> str:
    async with locked_ring(instance) as system:
        key = await system.find(InstanceKey, purpose=KeyPurpose.signing, state=KeyState.next)
        if key is None:
            secret = Sealed.of(secrets.token_bytes(32))
            key = await system.insert(
                InstanceKey(purpose=KeyPurpose.signing, secret=secret, state=KeyState.next)
            )
        return key.id


async def _activate(instance: Instance, key_id: str) -> None:
    async with locked_ring(instance) as system:
        rows = await system.all(InstanceKey, purpose=KeyPurpose.signing)
        if not any(row.id == key_id and row.state is KeyState.next for row in rows):
            return  # another process has activated it
        retire_at = instance.clock.ahead(MAX_TOKEN_LIFETIME_SECONDS + _RETIRE_MARGIN_SECONDS)
        for row in rows:
            if row.id == key_id:
                await system.update(row, state=KeyState.active)
            elif row.state is KeyState.active:
                await system.update(row, state=KeyState.old, retire_at=retire_at)
        failpoint("rotate_signing_before_commit")
