"""`retinue vault rotate-signing-key`: another key signs, the one before it goes on verifying for a while."""

import asyncio
import secrets

import structlog

from retinue.kit.crypto import Sealed
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance
from retinue.kit.vault.changing import changing_ring
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState
from retinue.kit.vault.refresh import REFRESH_S, refresh_keys

log = structlog.get_logger("retinue.vault")

LONGEST_TOKEN_S = 15 * 60
# For processes that go on signing with the old key until their next look, and for clocks that differ.
_MARGIN_S = 5 * 60


async def rotate_signing_key(instance: Instance, *, learn_s: float = 2 * REFRESH_S) -> str:
    """Every process learns the new key before any signs with it; its id. May be run again when cut off."""
    key_id = await _prepare(instance)
    failpoint("rotate_signing_prepared")
    await asyncio.sleep(learn_s)
    await _activate(instance, key_id)
    await refresh_keys(instance)
    log.info("signing_key_rotated", key=key_id)
    return key_id


async def _prepare(instance: Instance) -> str:
    async with changing_ring(instance) as system:
        key = await system.find(InstanceKey, purpose=KeyPurpose.signing, state=KeyState.next)
        if key is None:
            secret = Sealed.of(secrets.token_bytes(32))
            key = await system.insert(
                InstanceKey(purpose=KeyPurpose.signing, secret=secret, state=KeyState.next)
            )
        return key.id


async def _activate(instance: Instance, key_id: str) -> None:
    async with changing_ring(instance) as system:
        rows = await system.all(InstanceKey, purpose=KeyPurpose.signing)
        if not any(row.id == key_id and row.state is KeyState.next for row in rows):
            return  # another process has activated it meanwhile
        retire_at = instance.clock.ahead(LONGEST_TOKEN_S + _MARGIN_S)
        for row in rows:
            if row.id == key_id:
                await system.update(row, state=KeyState.active)
            elif row.state is KeyState.active:
                await system.update(row, state=KeyState.old, retire_at=retire_at)
        failpoint("rotate_signing_before_commit")
