"""The vault's status, read without decrypting anything."""

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.context.instance import Instance
from retinue.kit.crypto import version_header
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey
from retinue.kit.vault.rewrap import count_versions


class VersionStatus(msgspec.Struct, frozen=True):
    version: int
    state: KeyState
    since: Instant
    root_fingerprint: str
    secrets: int


class SigningKeyStatus(msgspec.Struct, frozen=True):
    id: str
    state: KeyState
    since: Instant
    retire_at: Instant | None


class VaultStatus(msgspec.Struct, frozen=True):
    """The status of all keys; `lost` counts values whose key version does not exist."""

    sealed_because: str
    versions: list[VersionStatus]
    signing_keys: list[SigningKeyStatus]
    lost: int


async def read_status(instance: Instance) -> VaultStatus:
    system = SystemDb(
        UnitOfWork(instance.database, reads_outside_transaction=True), instance.clock, instance.ring
    )
    counts = await count_versions(instance)
    versions = [
        VersionStatus(
            version=row.version,
            state=row.state,
            since=row.updated_at,
            root_fingerprint=row.root_fingerprint,
            secrets=counts.pop(version_header(row.version), 0),
        )
        for row in await system.all(VaultKey, order_by=("version",))
    ]
    signing = [
        SigningKeyStatus(id=row.id, state=row.state, since=row.updated_at, retire_at=row.retire_at)
        for row in await system.all(InstanceKey, purpose=KeyPurpose.signing, order_by=("created_at", "id"))
    ]
    return VaultStatus(
        sealed_because=instance.vault.sealed_because,
        versions=versions,
        signing_keys=signing,
        lost=counts.total(),
    )
