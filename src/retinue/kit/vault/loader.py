"""Opens the vault at startup, or leaves it sealed if the root key is missing or wrong (ADR 7)."""

import secrets
from dataclasses import dataclass, field

from retinue.kit.clock import Clock, Instant
from retinue.kit.crypto import KeyRing, RootKey, Sealed, SealedRing, WrongKey
from retinue.kit.db.engine import Database
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.settings import Settings
from retinue.kit.tokens import TokenSigningKeys
from retinue.kit.vault.key_files import KeyFiles, root_keys
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey
from retinue.kit.vault.ring import LiveRing


@dataclass(frozen=True)
class Vault:
    """The key ring and the instance's keys; `sealed_because` is the reason if the vault is sealed."""

    ring: KeyRing
    signing: TokenSigningKeys = field(repr=False)
    pepper: bytes = field(repr=False)
    sealed_because: str = ""


async def open_vault(settings: Settings, database: Database, clock: Clock) -> Vault:
    """Open the vault; create the first keys in a new database. Nothing is re-encrypted here."""
    try:
        return await _open(settings, database, clock)
    except (UniqueViolation, WrongKey):
        # Another process has just created the first keys or changed the root key.
        pass
    try:
        return await _open(settings, database, clock)
    except WrongKey:
        return _sealed("the master key does not match the database")


async def _open(settings: Settings, database: Database, clock: Clock) -> Vault:
    unit = UnitOfWork(database, reads_outside_transaction=False)
    try:
        stored = await SystemDb(unit, clock, SealedRing()).all(VaultKey, order_by=("version",))
        roots = root_keys(settings, may_create=not stored)
        if not roots:
            vault = _sealed("the master key is missing")
        elif not stored:
            vault = await _first_keys(unit, clock, roots[0])
        else:
            vault = await _unwrap(unit, clock, settings, roots, stored)
        await unit.commit()
    except BaseException:
        await unit.rollback()
        raise
    return vault


def _sealed(reason: str) -> Vault:
    """Return a sealed vault with an ephemeral signing key, so that its sessions end with the process."""
    ephemeral = TokenSigningKeys(("sealed-" + secrets.token_hex(4), secrets.token_bytes(32)))
    return Vault(ring=SealedRing(), signing=ephemeral, pepper=b"", sealed_because=reason)


async def _first_keys(unit: UnitOfWork, clock: Clock, root: RootKey) -> Vault:
    key = secrets.token_bytes(32)
    ring = LiveRing({1: key}, 1)
    system = SystemDb(unit, clock, ring)
    await system.insert(VaultKey(version=1, wrapped=root.wrap(key, 1), root_fingerprint=root.fingerprint))
    for purpose in KeyPurpose:
        await system.insert(InstanceKey(purpose=purpose, secret=Sealed.of(secrets.token_bytes(32))))
    return await _read_vault(system, clock, ring)


async def _unwrap(
    unit: UnitOfWork, clock: Clock, settings: Settings, roots: list[RootKey], stored: list[VaultKey]
) -> Vault:
    root = require_matching_root(roots, stored)
    versions = {row.version: root.unwrap(row.wrapped, row.version) for row in stored}
    ring = LiveRing(versions, active_version(stored))
    system = SystemDb(unit, clock, ring)
    files = KeyFiles(settings.data_dir)
    if settings.master_key is None and files.has_next(root):
        await _finish_root_rotation(system, files, root)
    return await _read_vault(system, clock, ring)


def require_matching_root(roots: list[RootKey], stored: list[VaultKey]) -> RootKey:
    """Return the root key that wraps the database's keys; raise `WrongKey` if none of them does."""
    fingerprints = {row.root_fingerprint for row in stored}
    for root in roots:
        if fingerprints == {root.fingerprint}:
            return root
    raise WrongKey


def active_version(stored: list[VaultKey]) -> int:
    return max(row.version for row in stored if row.state is KeyState.active)


async def _finish_root_rotation(system: SystemDb, files: KeyFiles, root: RootKey) -> None:
    """Finish a `rotate_root` that was killed between its commit and the replacement of the key file."""
    await lock_ring(system)
    require_matching_root([root], await system.all(VaultKey))
    files.promote(root)


async def lock_ring(system: SystemDb) -> None:
    """Lock the ring until the unit of work ends, by locking the pepper's row, which is never deleted."""
    pepper = await system.find(InstanceKey, purpose=KeyPurpose.pepper)
    assert pepper is not None
    await system.lock(InstanceKey, pepper.id)


async def _read_vault(system: SystemDb, clock: Clock, ring: KeyRing) -> Vault:
    rows = await system.all(InstanceKey)
    pepper = next(row for row in rows if row.purpose is KeyPurpose.pepper)
    signing = signing_keys(rows, ring, clock.now(), {})
    return Vault(ring=ring, signing=signing, pepper=pepper.secret.open(ring))


def signing_keys(
    rows: list[InstanceKey], ring: KeyRing, now: Instant, known: dict[str, bytes]
) -> TokenSigningKeys:
    """Return the newest active key for signing and the others for verifying; `known` keys are not opened."""
    usable = [
        row
        for row in rows
        if row.purpose is KeyPurpose.signing and (row.retire_at is None or row.retire_at > now)
    ]
    keys = {row.id: known.get(row.id) or row.secret.open(ring) for row in usable}
    active = max((row for row in usable if row.state is KeyState.active), key=lambda row: row.created_at).id
    return TokenSigningKeys((active, keys.pop(active)), keys)
